#include "fabric/history/record_watch.h"

#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"

namespace mrclab {
namespace {

using nlohmann::json;

std::string host_name(const Topology& topology, const Ipv6Address& address) {
  const std::optional<uint32_t> host = host_of_address(topology, address);
  return host ? topology.node(topology.host(*host)).name : mrclab::to_string(address);
}

void add_ev(json& line, EntropyValue ev) {
  line["ev"] = ev.value;
  if (const std::optional<Path> path = path_of(ev)) line["path"] = to_string(*path);
}

/// The decoded packet; empty if the frame is no MRC packet, or its bytes were not recorded.
std::optional<MrcPacket> parse_packet(const Frame& frame) {
  MrcPacket packet;
  if (!frame) return std::nullopt;
  if (parse_mrc_frame(frame.bytes(), packet, {.allow_cut = true}) != ParseError::kNone) {
    return std::nullopt;
  }
  return packet;
}

std::string_view event_name(const PacketRecord& record) {
  switch (record.event) {
    case PacketEvent::kPassed: return "passed";
    case PacketEvent::kTrimmed: return "trimmed";
    case PacketEvent::kDropped: return "dropped";
  }
  return "passed";
}

}  // namespace

json to_json(const RecordFilter& filter) {
  json value = json::object();
  if (filter.node) value["node"] = filter.node->value;
  if (filter.port) value["port"] = filter.port->value;
  if (filter.qp) {
    value["qp"] = {{"local", filter.qp->local.value},
                   {"peer", filter.qp->peer.value},
                   {"peer_address", filter.qp->peer_address}};
  }
  return value;
}

RecordFilter record_filter_from(const json& value) {
  RecordFilter filter;
  if (value.contains("node")) filter.node = NodeId{value.at("node").get<uint32_t>()};
  if (value.contains("port")) filter.port = PortId{value.at("port").get<uint32_t>()};
  if (value.contains("qp")) {
    const json& qp = value.at("qp");
    filter.qp = {Qpn{qp.at("local").get<uint32_t>()}, Qpn{qp.at("peer").get<uint32_t>()},
                 qp.at("peer_address").get<Ipv6Address>()};
  }
  return filter;
}

json describe_packet(const Topology& topology, NodeId node, const PacketRecord& record) {
  json line{{"t_ps", record.t.ps()},
            {"node", topology.node(node).name},
            {"port", topology.port({node, record.port}).name()},
            {"direction", record.direction == Direction::kIngress ? "in" : "out"},
            {"event", event_name(record)},
            {"packet", "other"}};
  if (record.event == PacketEvent::kDropped) line["cause"] = name_of(record.cause);
  if (record.frame) line["bytes"] = record.frame.wire_length().value;
  const std::optional<MrcPacket> packet = parse_packet(record.frame);
  if (!packet) return line;
  line["packet"] = name_of(packet->bth.opcode);
  line["qp"] = packet->bth.destination_qp.value;
  line["psn"] = packet->bth.psn.value();
  if (packet->bth.retransmission) line["retransmission"] = true;
  line["from"] = host_name(topology, packet->inner.source);
  line["to"] = host_name(topology, packet->inner.destination);
  add_ev(line, packet->entropy());
  return line;
}

json describe_event(const Topology& topology, NodeId node, const EventRecord& record) {
  json line{{"t_ps", record.t.ps()}, {"node", topology.node(node).name}, {"kind", record.kind}};
  if (record.port) line["port"] = topology.port({node, *record.port}).name();
  if (record.qp) line["qp"] = record.qp->value;
  if (record.ev) add_ev(line, *record.ev);
  if (record.psn) line["psn"] = record.psn->value();
  if (!record.cause.empty()) line["cause"] = record.cause;
  if (!record.detail.empty()) line["detail"] = record.detail;
  return line;
}

RecordWatch::RecordWatch(const Topology& topology, const RecordFilter& filter,
                         std::atomic<uint64_t>& matches)
    : topology_(topology), filter_(filter), matches_(matches) {
  matches_.store(0, std::memory_order_relaxed);
}

bool RecordWatch::count() {
  // One writer; what is read must be whole, and is ordered by the process's done_ps.
  matches_.store(matches_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  if (records_.size() < kMaxRecords) return true;
  ++left_out_;
  return false;
}

bool RecordWatch::matches(NodeId node, const PacketRecord& record) const {
  if (filter_.node && *filter_.node != node) return false;
  if (filter_.port && *filter_.port != record.port) return false;
  if (!filter_.qp) return true;
  const std::optional<MrcPacket> packet = parse_packet(record.frame);
  if (!packet) return false;
  const bool incoming = record.direction == Direction::kIngress;
  const Ipv6Address& peer = incoming ? packet->inner.source : packet->inner.destination;
  const Qpn named = incoming ? filter_.qp->local : filter_.qp->peer;
  return packet->bth.destination_qp == named && peer == filter_.qp->peer_address;
}

void RecordWatch::packet(NodeId node, const PacketRecord& record) {
  if (matches(node, record) && count()) {
    records_.push_back(describe_packet(topology_, node, record));
  }
}

void RecordWatch::event(NodeId node, const EventRecord& record) {
  if (filter_.node && *filter_.node != node) return;
  if (filter_.port && filter_.port != record.port) return;
  if (filter_.qp && record.qp != filter_.qp->local) return;
  if (count()) records_.push_back(describe_event(topology_, node, record));
}

json RecordWatch::take_records() {
  json taken{{"records", std::move(records_)}, {"left_out", left_out_}};
  records_ = json::array();
  left_out_ = 0;
  return taken;
}

}  // namespace mrclab
