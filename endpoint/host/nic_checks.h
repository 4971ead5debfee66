#pragma once
// What a NIC looks at before a packet reaches a queue pair: carrier, addresses, lengths, ICRC. A packet
// that is refused is counted under its own reason and changes nothing.

#include <cstdint>
#include <span>

#include "endpoint/host/host_shared.h"
#include "fabric/packet/frame.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class NicChecks {
 public:
  /// `host` outlives it.
  explicit NicChecks(const HostShared& host)
      : host_(host), address_(host.paths.address(host.self)) {}

  /// What `frame`, which came in at `port`, is refused for, or Refusal::kNone; then `packet` is what it
  /// holds. `packet` points into the frame.
  [[gnu::flatten]] Refusal examine(uint32_t port, const Frame& frame, MrcPacket& packet) const;

 private:
  [[gnu::noinline]] Refusal examine_damaged(uint32_t port, const Frame& frame,
                                            MrcPacket& packet) const;
  Refusal examine_headers(uint32_t port, std::span<const uint8_t> bytes, bool may_be_cut,
                          MrcPacket& packet) const;

  const HostShared& host_;
  Ipv6Address address_;  ///< of this host
};

/// What a refusal by the NIC is called in the packet history; among protocol-level refusals only those
/// that ask for the packet again have a name there.
DropCause drop_cause_of(Refusal refusal);

}  // namespace mrclab::endpoint
