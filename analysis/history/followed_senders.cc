#include "analysis/history/followed_senders.h"

#include <algorithm>
#include <utility>

#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"

namespace mrclab::analysis {

FollowedSenders::FollowedSenders(std::vector<bool> hosts)
    : hosts_(std::move(hosts)),
      count_(static_cast<uint64_t>(std::count(hosts_.begin(), hosts_.end(), true))) {}

bool FollowedSenders::follows(const Topology& topology, const Frame& frame) const {
  if (all() || !frame) return true;
  const std::span<const uint8_t> bytes = frame.bytes();
  const std::optional<Encapsulation> kind = encapsulation_of(bytes);
  if (!kind || *kind == Encapsulation::kIpv4) return true;
  const FrameLayout at = layout_of(*kind);
  if (bytes.size() < at.after_bth) return true;
  // The addresses of an IPv6 header begin 8 bytes behind its own beginning.
  const bool data = is_request(static_cast<Opcode>(bytes[at.bth]));
  Ipv6Address sender;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at.ip + (data ? 8 : 24)), sender.size(),
              sender.begin());
  const std::optional<uint32_t> host = host_of_address(topology, sender);
  return !host || hosts_[*host];
}

}  // namespace mrclab::analysis
