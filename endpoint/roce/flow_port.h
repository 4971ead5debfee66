#pragma once
// The UDP source port of an RC queue pair, from which switches' hashes make its path. As Linux derives it
// where no flow label was asked for (include/rdma/ib_verbs.h: rdma_calc_flow_label,
// rdma_flow_label_to_udp_sport), so both directions of a connection have the same one.

#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {

/// 20 bits.
constexpr uint32_t flow_label_between(Qpn local, Qpn remote) {
  uint64_t v = uint64_t{local.value} * remote.value;
  v ^= v >> 20;
  v ^= v >> 40;
  return static_cast<uint32_t>(v & 0xF'FFFF);
}

constexpr uint16_t source_port_between(Qpn local, Qpn remote) {
  const uint32_t label = flow_label_between(local, remote);
  return static_cast<uint16_t>(((label & 0x3FFF) ^ (label >> 14)) | 0xC000);
}

/// The path of a connection over the ports of `plane`. The flow label of its packets names the plane (our
/// choice: any label that is the same in all packets of the flow would do).
inline Path flow_path(uint32_t plane, Qpn local, Qpn remote) {
  return {plane, source_port_between(local, remote) & (kFlowNumbers - 1), Chosen::kByFlow};
}

}  // namespace mrclab::endpoint
