#pragma once
// Memory that is reached by calls: that of a program in another process. A NIC's memory is pinned, so an access never
// fails: where the program has unmapped its memory meanwhile, an accessor drops what is written and reads zeros.

#include <algorithm>
#include <cstdint>
#include <span>

namespace mrclab::endpoint {

class RegionAccess {
 public:
  virtual ~RegionAccess() = default;
  /// Puts one packet's bytes there. `last`: a message ends with them, and the accessor sees to it that the last 8 of
  /// them are seen last, because programs poll them. Of other packets nobody may wait for a part.
  virtual void write(uint64_t offset, std::span<const uint8_t> bytes, bool last) = 0;
  virtual void read(uint64_t offset, std::span<uint8_t> bytes) = 0;
  /// False: it was deregistered. A receive that was posted into it fails when a message would use it up.
  virtual bool registered() const { return true; }
};

/// The same over memory of this process.
class SpanAccess : public RegionAccess {
 public:
  explicit SpanAccess(std::span<uint8_t> memory) : memory_(memory) {}
  void write(uint64_t offset, std::span<const uint8_t> bytes, bool) override {
    const uint64_t room = memory_.size() - std::min<uint64_t>(offset, memory_.size());
    if (room > 0)
      std::copy_n(bytes.begin(), std::min<uint64_t>(bytes.size(), room), memory_.data() + offset);
  }
  void read(uint64_t offset, std::span<uint8_t> bytes) override {
    const uint64_t room = memory_.size() - std::min<uint64_t>(offset, memory_.size());
    const uint64_t count = std::min<uint64_t>(bytes.size(), room);
    std::copy_n(memory_.data() + (count > 0 ? offset : 0), count, bytes.begin());
    std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(count), bytes.end(), uint8_t{0});
  }

 private:
  std::span<uint8_t> memory_;
};

}  // namespace mrclab::endpoint
