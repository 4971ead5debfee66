#pragma once
// The messages that two standalone ends exchange over the out-of-band channel, one JSON object a
// line, both at the same time: their addresses (Hello), their queue pair and memory (with the
// attributes of MRC specification table 10-1), and that they are ready or done. Every field is
// checked before it is used; one that does not fit throws std::invalid_argument with its name.
//
//   {"mrc":1,"address":"fd00::1","macs":["02:00:00:00:00:01"],"pmtu":4096}
//   {"qpn":4198401,"psn":77,"va":123145302310912,"rkey":4097,"size":65536,
//    "attributes":{"mpr":8,"mpr_dest":8,"max_wimm":32,"max_wimm_dest":32,"dynamic_mpr":false,
//                  "service_time":true}}         both ways; may be missing: false
//   {"state":"ready"}

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/host/verbs.h"
#include "netio/rpc/line_channel.h"

namespace mrclab::standalone {

/// How long an end waits for a message of the other one.
inline constexpr std::chrono::milliseconds kPeerPatience{10'000};

struct Hello {
  Ipv6Address address{};
  std::vector<MacAddress> macs;  ///< by plane
  uint32_t pmtu = 4096;
};
std::string to_line(const Hello& hello);
/// The peer must have as many planes as `mine`, the same PMTU and another address.
Hello parse_hello(const std::string& line, const Hello& mine);
/// Does this line come from an end at all, whether or not it fits? Others that connect may send anything, or nothing.
bool is_hello(const std::string& line);
Hello exchange_hello(netio::LineChannel& channel, const Hello& mine);

struct QueuePairInfo {
  Qpn qpn;
  Psn psn;
  endpoint::MemoryRegion region;  ///< what the peer may write to; size 0: nothing
  endpoint::ConnectionAttributes attributes;
};
std::string to_line(const QueuePairInfo& info);
QueuePairInfo parse_queue_pair_info(const std::string& line);

/// {"state":word}, and the same of the peer: throws where its word is another one.
std::string state_line(std::string_view word);
void require_state(const std::string& line, std::string_view word);

/// "02:00:00:00:00:01". Throws std::invalid_argument.
MacAddress parse_mac(std::string_view text);

}  // namespace mrclab::standalone
