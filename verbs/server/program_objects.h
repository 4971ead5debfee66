#pragma once
// What a program has made, as its session keeps it.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "endpoint/base/region_access.h"
#include "endpoint/host/verbs.h"
#include "netio/runtime/shared_page.h"
#include "netio/system/message_socket.h"
#include "verbs/protocol/messages.h"
#include "verbs/protocol/ring.h"
#include "verbs/server/program_memory.h"

namespace mrclab::verbs {

/// A memory region. Receives that are posted keep it beyond its deregistration. A SEND that would use one up then fails,
/// and the rest of one that has begun goes nowhere, as a page that a NIC has pinned is nobody's any more.
class RegionObject : public endpoint::RegionAccess {
 public:
  RegionObject(const ProgramMemory& memory, const RegionRequest& request, uint32_t domain)
      : memory_(memory), request_(request), domain_(domain) {}
  void write(uint64_t offset, std::span<const uint8_t> bytes, bool last) override {
    if (!alive_) return;
    if (last) {
      memory_.write_last(request_.address + offset, bytes);
    } else {
      memory_.write(request_.address + offset, bytes);
    }
  }
  void read(uint64_t offset, std::span<uint8_t> bytes) override {
    if (!alive_ || !memory_.read(request_.address + offset, bytes)) {
      std::fill(bytes.begin(), bytes.end(), uint8_t{0});
    }
  }
  bool registered() const override { return alive_; }
  void end() { alive_ = false; }
  uint32_t domain() const { return domain_; }
  /// May `length` bytes at `address`, as a scatter list of this domain names them, be used so?
  bool allows(uint64_t address, uint32_t length, uint32_t domain, bool to_write) const {
    if (domain != domain_ || (to_write && (request_.access & kLocalWrite) == 0)) return false;
    const uint64_t offset = address - request_.iova;
    return address >= request_.iova && offset <= request_.length &&
           length <= request_.length - offset;
  }
  uint64_t offset_of(uint64_t address) const { return address - request_.iova; }

  endpoint::MemoryRegion region;  ///< the device's

 private:
  const ProgramMemory& memory_;
  RegionRequest request_;
  uint32_t domain_;
  bool alive_ = true;
};

struct ChannelObject {
  netio::MessageSocket events;  ///< our end
  uint32_t users = 0;           ///< completion queues
};

struct CqObject {
  explicit CqObject(netio::SharedPage shared) : memory(std::move(shared)) {}

  enum class Armed : uint8_t { kNo, kSolicited, kAny };
  uint32_t handle = 0;
  endpoint::CqHandle device;
  netio::SharedPage memory;
  uint32_t depth = 0;  ///< of the ring; a power of two
  uint64_t bytes = 0;  ///< of the ring's memory
  uint64_t written = 0;
  uint32_t channel = 0;
  Armed armed = Armed::kNo;
  bool overrun = false;
  bool waiting = false;  ///< the device has completions for it
  uint32_t undelivered = 0;
  uint32_t users = 0;  ///< queue pairs, two of one that has it for both sides

  CompletionRing& ring() const { return memory.as<CompletionRing>(); }
};

struct SrqObject {
  uint32_t handle = 0;
  endpoint::SrqHandle device;
  SrqRequest attributes{};
  uint32_t domain = 0;
  uint32_t users = 0;
};

struct QpObject {
  uint32_t handle = 0;
  Qpn qpn;
  QpRequest request{};
  uint32_t domain = 0;
  CqObject* send_cq = nullptr;
  CqObject* recv_cq = nullptr;
  SrqObject* srq = nullptr;
  QpAttributesWire attributes{};      ///< as the program set them
  uint32_t masks = 0, mrc_masks = 0;  ///< which of them it set
  uint64_t bytes_under_way = 0;
  /// Work that waits until the bytes before it have left: copies of records of the ring.
  std::deque<std::vector<uint8_t>> waiting;
};

}  // namespace mrclab::verbs
