#pragma once
// Index of what a node keeps for each host (a peer, a queue), by the host's number. A node keeps something for few
// hosts of a large fabric, so the table has pages only for the ranges of numbers that occur.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace mrclab {

class HostIndex {
 public:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  explicit HostIndex(uint32_t hosts) : pages_((uint64_t{hosts} + kPage - 1) / kPage) {}

  /// What was set for the host, a number below `hosts`; kNone if nothing was.
  uint32_t find(uint32_t host) const {
    const Page* const page = pages_[host / kPage].get();
    return page == nullptr ? kNone : (*page)[host % kPage];
  }
  void set(uint32_t host, uint32_t index) {
    std::unique_ptr<Page>& page = pages_[host / kPage];
    if (!page) {
      page = std::make_unique<Page>();
      page->fill(kNone);
    }
    (*page)[host % kPage] = index;
  }
  void clear() {
    for (std::unique_ptr<Page>& page : pages_) page.reset();
  }

 private:
  static constexpr uint32_t kPage = 64;  // hosts: a page takes 256 bytes
  using Page = std::array<uint32_t, kPage>;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace mrclab
