#include "lab/serve/node_record_reader.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "fabric/history/event_text.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/history/window_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/json_text.h"
#include "fabric/text/visible_text.h"
#include "fabric/topology/path.h"
#include "session/recording/recording_watch.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMaxAlike = 1u << 20;            // far more than all switches hold
constexpr uint64_t kMix = 0x9E37'79B9'7F4A'7C15;  // 2^64 over the golden ratio

}  // namespace

HostPairs::HostPairs(const Topology& topology) {
  const uint32_t hosts = topology.host_count();
  for (uint32_t a = 0; a < hosts; ++a) {
    for (uint32_t b = 0; b < hosts; ++b) {
      entries_.push_back({peers_of(host_address(topology, a), host_address(topology, b)), a, b});
      entries_.push_back({peers_of(host_address_ipv4(a), host_address_ipv4(b)), a, b});
    }
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.peers, a.source, a.destination) < std::tie(b.peers, b.source, b.destination);
  });
}

std::pair<uint32_t, uint32_t> HostPairs::find(uint32_t peers) const {
  constexpr std::pair kUnknown{SeenPacket::kNoHost, SeenPacket::kNoHost};
  const auto [first, last] =
      std::equal_range(entries_.begin(), entries_.end(), Entry{peers},
                       [](const Entry& a, const Entry& b) { return a.peers < b.peers; });
  if (first == last || last - first > 1) return kUnknown;
  return {first->source, first->destination};
}

NodeRecordReader::NodeRecordReader(const Topology& topology, Recording& recording)
    : topology_(topology), recording_(recording), pairs_(topology) {
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) ports_.push_back({site.id, PortId{i}});
  }
}

Recording::FrameKey NodeRecordReader::key_of(const CompactRecord& record, NodeId node,
                                             bool arrives) {
  // Ordinary traffic looks all the same, and what was lost on the wire never came.
  if (record.opcode == 0 || lost_on_wire(record.cause)) return 0;
  if (topology_.node(node).role == NodeRole::kHost) return 0;
  const uint64_t packet = uint64_t{record.psn.value()} << 40 | uint64_t{record.qpn.value} << 16 |
                          uint64_t{record.opcode} << 8 | (record.again ? 1 : 0);
  const uint64_t way = uint64_t{record.peers} << 32 | record.ev.value;
  const uint64_t looks = (packet ^ way * kMix) + node.value * kMix;
  if (alike_.size() >= kMaxAlike) alike_.clear();
  Alike& alike = alike_[looks];
  const uint64_t key = looks + (arrives ? alike.came++ : alike.left++) * kMix;
  if (alike.left >= alike.came) alike_.erase(looks);
  return key != 0 ? key : 1;
}

void NodeRecordReader::append_record(const CompactRecord& record) {
  const PortRef at = ports_.at(record.stream / 2);
  const Direction direction = record.stream % 2 == 0 ? Direction::kIngress : Direction::kEgress;
  if (direction == Direction::kIngress && record.event != PacketEvent::kDropped) {
    recording_.add_arrival({.t = record.t,
                            .at = at,
                            .queue = record.queue,
                            .opcode = record.opcode,
                            .traffic_class = record.traffic_class,
                            .wire_length = record.wire_length,
                            .qp = record.qpn,
                            .frame = key_of(record, at.node, true)});
    return;
  }
  SeenPacket seen = seen_packet(record);
  std::tie(seen.source, seen.destination) = pairs_.find(record.peers);
  recording_.add_departure(seen, at, direction, key_of(record, at.node, false));
}

void NodeRecordReader::take_line(const std::string& line) {
  if (is_seal_line(line)) return;
  try {
    const auto said = require_json<nlohmann::json>(line);
    if (said.is_object() && said.value("kind", std::string()) == event_kind::kWindow) {
      const auto node = topology_.find_node(said.at("node").get<std::string>());
      const auto record = parse_window(topology_, said);
      if (!node || !record || topology_.node(*node).role != NodeRole::kHost) {
        ++malformed_;
        return;
      }
      recording_.add_window({*node, *record});
      return;
    }
    std::optional<ParsedEvent> event = parse_event(topology_, said);
    if (!event || event->t < FabricTime::zero()) {
      ++malformed_;
      return;
    }
    if (event->kind == event_kind::kWindowsLeftOut) recording_.leave_out(event->t);
    if (!event->node) return;  // the lab's own
    recording_.add_event({event->t, *event->node, visible(event->kind), event->port, event->qp,
                          event->ev, event->psn, visible(event->cause), visible(event->detail)});
  } catch (const std::exception&) {  // no JSON, or a value of another type
    ++malformed_;
  }
}

}  // namespace mrclab::lab
