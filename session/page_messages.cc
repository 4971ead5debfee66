#include "session/page_messages.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/version.h"
#include "fabric/packet/drop_kind.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/queue_pairs.h"
#include "session/fabric_message.h"
#include "session/lesson.h"
#include "session/message_bytes.h"
#include "session/whole_messages.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

std::string_view word_of(faults::Quantity quantity) {
  switch (quantity) {
    case faults::Quantity::kTime: return "time";
    case faults::Quantity::kShare: return "share";
    case faults::Quantity::kErrorRate: return "error_rate";
    case faults::Quantity::kBitRate: return "bit_rate";
    case faults::Quantity::kBytes: return "bytes";
    case faults::Quantity::kCount: return "count";
    case faults::Quantity::kCarrierWord: return "carrier";
    case faults::Quantity::kFecWord: return "fec";
    case faults::Quantity::kAttackWord: return "attack";
    case faults::Quantity::kStatusWord: return "status";
  }
  return "";
}

json fault_kinds() {
  json kinds = json::array();
  for (const faults::FaultInfo& fault : faults::all_faults()) {
    json parameters = json::array();
    for (const faults::ParameterUse& use : fault.parameters) {
      const faults::ParameterInfo& info = faults::info(use.parameter);
      parameters.push_back({{"name", info.name},
                            {"quantity", word_of(info.quantity)},
                            {"min", info.min},
                            {"max", info.max},
                            {"about", info.about},
                            {"required", use.required}});
    }
    kinds.push_back({{"name", fault.name},
                     {"parameters", parameters},
                     {"usual", body_words(faults::usual_parameters(fault))},
                     {"about", fault.about}});
  }
  return kinds;
}

/// Is it of a burst? Such a one belongs to no queue pair, and what reads as its opcode is none.
bool is_datagram(const SeenPacket& packet) { return packet.qp.value == 0 && packet.opcode == 0; }

/// The packet's own flags, and what the page asks of its opcode.
uint8_t flags_of(const SeenPacket& packet) {
  if (is_datagram(packet)) return packet.flags | kDatagramFlag;
  const bool data = carries_data(static_cast<Opcode>(packet.opcode));
  return packet.flags | (data ? kDataFlag : 0);
}

json workload_json(const Scenario& scenario) {
  json lines = json::array();
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    lines.push_back("- " + endpoint::to_yaml(spec));
  }
  return lines;
}

json names(size_t count, const std::function<std::string_view(size_t)>& name) {
  json list = json::array();
  for (size_t i = 0; i < count; ++i) list.push_back(name(i));
  return list;
}

/// The causes of drops, by number, that are refusals of the receiving NIC and no losses.
json refusals() {
  json list = json::array();
  for (size_t i = 0; i < kDropCauses; ++i) {
    if (drop_kind(static_cast<DropCause>(i)) == DropKind::kRefused) list.push_back(i);
  }
  return list;
}

}  // namespace

json body_words(const faults::BodyWords& words) { return words; }

PacketKind kind_of(const SeenPacket& packet) {
  if (packet.queue == QueueClass::kTrimmed || packet.event == PacketEvent::kTrimmed) {
    return PacketKind::kTrimmed;
  }
  if (is_datagram(packet)) return PacketKind::kOther;
  const auto opcode = static_cast<Opcode>(packet.opcode);
  if (is_request(opcode) || is_rc_read_response(opcode)) {
    return packet.flags & SeenPacket::kAgain ? PacketKind::kAgain : PacketKind::kData;
  }
  switch (opcode) {
    case Opcode::kSack:
    case Opcode::kAcknowledge:
    case Opcode::kRcAcknowledge:
    case Opcode::kRcAtomicAcknowledge:
    case Opcode::kCongestionNotification: return PacketKind::kSack;
    case Opcode::kNack: return PacketKind::kNack;
    case Opcode::kProbeRequest:
    case Opcode::kEndpointRequest:
    case Opcode::kEndpointResponse: return PacketKind::kProbe;
    default: return PacketKind::kOther;
  }
}

json welcome_of(const FabricSession& session) {
  const Scenario& scenario = session.scenario();
  const Topology& topology = scenario.topology;
  const Recording& recording = session.branch().recording();
  const FollowedPart& part = recording.part();
  json transports = json::array();
  for (const NamedTransport& transport : named_transports()) {
    transports.push_back({{"name", transport.name}, {"about", transport.about}});
  }
  json steps = json::array();
  for (const std::string_view word : kStepWords) steps.push_back(word);
  const auto opcode = [](size_t i) { return name_of(static_cast<Opcode>(i)); };
  return {
      {"say", "welcome"},
      {"version", release_version()},
      {"scenario", scenario.name},
      {"about", scenario.about},
      {"fabric", topology.name},
      {"seed", scenario.seed},
      {"planes", topology.planes},
      {"regular", topology.regular()},
      {"base_rtt_ps", topology.base_rtt.ps()},
      {"switch_latency_ps", topology.switch_latency.ps()},
      {"host_latency_ps", topology.host_latency.ps()},
      {"end_ps", session.end().ps()},
      {"bin_ps", recording.bin().ps()},
      {"bins", recording.bins()},
      {"wires", part.wires()},
      {"nodes", nodes_json(topology, part)},
      {"links", links_json(topology, part)},
      {"optics", optics_json(topology, part)},
      {"whole", whole_json(session.branch())},
      {"faults", fault_kinds()},
      {"transports", transports},
      {"steps", steps},
      {"workload", workload_json(scenario)},
      {"lessons", lessons_json()},
      {"queue_pairs", queue_pairs_json(scenario, part)},
      {"opcodes", names(256, opcode)},
      {"packet_kinds", kPacketKindWords},
      {"causes", names(kDropCauses, [](size_t i) { return name_of(static_cast<DropCause>(i)); })},
      {"refusals", refusals()}};
}

json branch_json(const FabricSession& session) {
  const Scenario& scenario = session.scenario();
  const Topology& topology = scenario.topology;
  const FollowedPart& part = session.branch().recording().part();
  json faults = json::array();
  size_t room = kMaxImpairments, places_left = kMaxFaultPlaces;
  for (uint32_t number = 0; number < session.faults().size(); ++number) {
    const BookedFault& entry = session.faults()[number];
    if (entry.fault.healed <= entry.fault.at) continue;
    const faults::Interval interval = faults::interval_of(entry.fault, topology);
    faults.push_back(
        {{"number", number},
         {"kind", faults::name_of(entry.fault)},
         {"text", faults::describe(entry.fault, topology)},
         {"yaml", faults::to_yaml(entry.fault, topology)},
         {"source", name_of(entry.source)},
         {"from_ps", interval.start.ps()},
         {"until_ps",
          interval.last_heal == FabricTime::never() ? json() : json(interval.last_heal.ps())},
         {"impairments", impairments_json(entry.fault, topology, part, room)},
         {"places", places_json(entry.fault, topology, part, places_left)}});
  }
  return {{"say", "branch"},
          {"branch", session.number()},
          {"other", session.other() == nullptr ? json() : json(session.other_number())},
          {"forked_at_ps", session.forked_at().ps()},
          {"world", name_of(session.branch().world())},
          {"lab", session.branch().lab()},
          {"transport", endpoint::to_yaml(scenario.transport)},
          {"faults", faults}};
}

std::string sums_message(const Recording& recording, const Topology& topology, uint32_t branch,
                         size_t from, size_t to) {
  const FollowedPart& part = recording.part();
  const size_t wires = part.wires();
  std::string out;
  out.reserve((to - from) * (2 * wires + 12 * topology.planes + 4) + 24);
  for (const size_t number :
       {size_t{1}, size_t{branch}, from, to - from, wires, size_t{topology.planes}}) {
    put_number(out, static_cast<uint32_t>(number));
  }
  std::vector<uint64_t> full(wires), trim(wires);
  for (size_t w = 0; w < wires; ++w) {
    const Wire& wire = topology.wire(part.wire(w));
    full[w] = std::max<uint64_t>(bytes_in(wire.rate, recording.bin()).value, 1);
    const QueueProfile& queues = topology.queues_of(wire);
    trim[w] = std::max<uint64_t>((queues.trim ? queues.trim_threshold : queues.tail_drop).value, 1);
  }
  const auto share = [](uint64_t value, uint64_t whole, uint64_t scale) {
    return static_cast<char>(std::min<uint64_t>((value * scale + whole / 2) / whole, 255));
  };
  for (size_t bin = from; bin < to; ++bin) {
    const auto sums = recording.wires(bin);
    for (size_t w = 0; w < wires; ++w) out += share(sums[w].bytes, full[w], FabricTally::kFullLoad);
    for (size_t w = 0; w < wires; ++w)
      out += share(sums[w].queue, trim[w], FabricTally::kTrimQueue);
    out.append((4 - out.size() % 4) % 4, '\0');
    for (const Recording::PlaneSums& plane : recording.planes(bin)) {
      put_number(out, plane.received);
      for (const uint16_t count : {plane.lost, plane.trimmed, plane.marked, plane.again}) {
        put_number(out, count);
      }
    }
  }
  return out;
}

void require_kept(const Recording& recording, FabricTime from) {
  if (recording.bin_of(from) >= recording.first_kept()) return;
  throw InputError("packets before " + to_string(recording.kept_from()) +
                   " are no longer kept: there was no room for them");
}

std::string packets_message(const Recording& recording, uint32_t branch, uint32_t ticket,
                            FabricTime from, FabricTime to, const PacketFilter& within) {
  if (from < FabricTime::zero() || to < from || to - from > kMaxSpanAsked) {
    throw InputError("found a span that is empty or too long: expected at most " +
                     to_string(kMaxSpanAsked));
  }
  const size_t first = recording.bin_of(from);
  require_kept(recording, from);
  std::string body;
  uint32_t count = 0;
  for (size_t bin = first; bin < recording.bins() && bin <= recording.bin_of(to); ++bin) {
    for (const SeenPacket& p : recording.packets(bin)) {
      if (p.t < from || p.t >= to) continue;
      if (within && !within(p)) continue;
      if (++count > kMaxPacketsAsked) throw InputError("found too many packets: ask for less time");
      for (const uint32_t number :
           {static_cast<uint32_t>((p.t - from).ps()), recording.part().number(p.wire), p.qp.value,
            p.psn.value(), p.ev.value, p.source, p.destination}) {
        put_number(body, number);
      }
      put_number(body, p.wire_length);
      for (const uint8_t byte :
           {p.opcode, static_cast<uint8_t>(p.event), static_cast<uint8_t>(p.cause),
            static_cast<uint8_t>(kind_of(p)), flags_of(p), p.traffic_class}) {
        put_number(body, byte);
      }
      put_number(body, p.waited_ns);
    }
  }
  std::string out;
  for (const uint32_t number : {2u, branch, ticket, count}) put_number(out, number);
  put_number(out, static_cast<double>(from.ps()));
  put_number(out, static_cast<double>(to.ps()));
  return out + body;
}

json event_json(const FollowedPart& part, const SeenEvent& event) {
  json line{{"t_ps", event.t.ps()}, {"node", part.number(event.node)}, {"kind", event.kind}};
  if (event.port) line["port"] = event.port->value;
  if (event.qp) line["qp"] = event.qp->value;
  if (event.psn) line["psn"] = event.psn->value();
  if (event.ev) {
    line["ev"] = event.ev->value;
    if (const auto path = path_of(*event.ev)) line["path"] = to_string(*path);
  }
  if (!event.cause.empty()) line["cause"] = event.cause;
  if (!event.detail.empty()) line["detail"] = event.detail;
  return line;
}

json window_json(const Topology& topology, const SeenWindow& window) {
  const WindowRecord& record = window.record;
  json line{{"t_ps", record.t.ps()},
            {"host", topology.node(window.host).index},
            {"peer", topology.node(record.peer).index},
            {"window", record.window.value},
            {"in_flight", record.in_flight.value}};
  if (record.largest) line["largest"] = record.largest->value;
  if (record.delay) line["delay_ps"] = record.delay->ps();
  if (record.target) line["target_ps"] = record.target->ps();
  if (record.base_rtt) line["base_ps"] = record.base_rtt->ps();
  if (record.quadrant) line["quadrant"] = kQuadrantWords.at(static_cast<size_t>(*record.quadrant));
  if (record.cut) line["cut"] = kCutWords.at(static_cast<size_t>(*record.cut));
  return line;
}

json packet_json(const Topology& topology, const SeenPacket& packet) {
  const auto host = [](uint32_t number) {
    return number == SeenPacket::kNoHost ? json() : json(number);
  };
  json line{{"t_ps", packet.t.ps()},
            {"wire", topology.wire_name(packet.wire)},
            {"packet", name_of(static_cast<Opcode>(packet.opcode))},
            {"qp", packet.qp.value},
            {"psn", packet.psn.value()},
            {"source", host(packet.source)},
            {"destination", host(packet.destination)}};
  if (packet.event == PacketEvent::kDropped) line["dropped"] = name_of(packet.cause);
  return line;
}

}  // namespace mrclab::lab
