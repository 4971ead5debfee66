#pragma once
// What a mapper's agents and its collector send each other while the fabric works, in the class of control:
//
//   report   agent -> collector   header | two bits for each probe of the period, in the order of the plan
//   list     collector -> host    header | a part of the fabric each
//
//   Ethernet | IPv6, a carrier | IPv6, from host to host | UDP, port 49863 | header 28 | ...
//
// Each is sent twice, over two planes. A report has the version of the list that its host holds: whoever has another one
// gets the list again, so that neither lost packets nor hosts that begin anew need a message of their own. A version is the
// instant in ps at which its list was decided; what hosts begin with is 0.
//
// Any bytes may come: what is no whole message, of another session, or names what is not there is counted and changes
// nothing.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fabric/probes/denied_part.h"
#include "fabric/probes/probe_report.h"
#include "fabric/topology/topology.h"

namespace mrclab {

enum class ProbeFate : uint8_t {
  kBack,
  kLost,
  kSlow,    ///< came back a base RTT later than over an idle fabric
  kUnsent,  ///< its port had no light
};

struct AgentReport {
  uint64_t period = 0;
  uint64_t list = 0;  ///< the version that the host has
  std::vector<ProbeFate> fates;
  bool operator==(const AgentReport&) const = default;
};

struct DeniedList {
  /// One packet has all of it.
  static constexpr size_t kMostParts = 96;
  uint64_t version = 0;
  std::vector<DeniedPart> parts;
  bool operator==(const DeniedList&) const = default;
};

using MapperMessage = std::variant<AgentReport, DeniedList>;

/// The probes of a host in a period, plane by plane, which a report's fates are about.
std::vector<Probe> planned_probes(const Topology& topology, uint32_t host, uint64_t period);
AgentReport agent_report(const Topology& topology, uint32_t host, const ProbeReport& report,
                         uint64_t list);
/// What both ends know of each other beforehand: a message without it is of nobody here.
uint32_t mapper_session(uint64_t seed);

struct MessageFrameSpec {
  MacAddress source_mac{}, destination_mac{};
  Ipv6Address outer_source{}, carrier{}, source{}, destination{};
  EntropyValue ev;
  uint8_t dscp = kDscpControl;
  uint32_t session = 0;
};
size_t message_bytes(const MapperMessage& message);  ///< of the whole frame
void write_message(const MessageFrameSpec& spec, const MapperMessage& message,
                   std::span<uint8_t> out);

/// A frame to the mapper's port.
struct SeenMessage {
  bool carried = true;  ///< with an outer header
  Ipv6Address outer_destination{}, source{}, destination{};
  uint32_t session = 0;
  std::optional<MapperMessage> message;  ///< empty: its bytes are none
};
/// Empty for a frame to another port, and for any bytes that are no such frame.
std::optional<SeenMessage> parse_message(std::span<const uint8_t> frame);

/// The most that messages may take of the collector's port, 1 % (our choice); why this fabric's would take more, or do
/// not fit into its packets.
std::optional<std::string> mapper_message_misfit(const Topology& topology);

}  // namespace mrclab
