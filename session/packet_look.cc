#include "session/packet_look.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "fabric/history/history.h"
#include "fabric/packet/drop_kind.h"
#include "fabric/packet/header_fields.h"
#include "fabric/topology/path.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

/// A number of at most 64 bits at any bit of a header.
uint64_t bits_at(std::span<const uint8_t> header, FieldPlace place) {
  uint64_t value = 0;
  for (size_t bit = place.bit; bit < place.bit + place.width; ++bit) {
    value = value << 1 | (header[bit / 8] >> (7 - bit % 8) & 1);
  }
  return value;
}

std::string address_text(std::span<const uint8_t> header, FieldPlace place) {
  const auto* first = header.data() + place.bit / 8;
  if (place.width == 48) {
    MacAddress mac;
    std::copy_n(first, mac.size(), mac.begin());
    return to_string(mac);
  }
  if (place.width == 32) return fmt::format("{}.{}.{}.{}", first[0], first[1], first[2], first[3]);
  Ipv6Address address;
  std::copy_n(first, address.size(), address.begin());
  return to_string(address);
}

template <class Field>
std::string value_text(const Field& field, FieldPlace place, std::span<const uint8_t> header) {
  if constexpr (kIsMember<Field>) {
    using Member =
        std::remove_cvref_t<decltype(std::declval<typename Field::Decoded>().*field.member)>;
    if constexpr (kIsByteArray<Member>) return address_text(header, place);
  }
  const uint64_t value = bits_at(header, place);
  std::string text = field.show == Show::kHex ? fmt::format("{:#x}", value) : std::to_string(value);
  if (field.value_name != nullptr) text += fmt::format(" ({})", field.value_name(value));
  return text;
}

/// Adds the layer that begins at `at` if all of it is there, and moves behind it.
template <const auto& kTable>
bool add_layer(json& layers, std::span<const uint8_t> frame, size_t& at) {
  if (at + kTable.bytes() > frame.size()) return false;
  const auto header = frame.subspan(at, kTable.bytes());
  json fields = json::array();
  for_each_field<kTable>([&](const auto& field, FieldPlace place) {
    if (field.name.empty()) return;
    json entry{
        {"name", field.name}, {"label", field.label}, {"value", value_text(field, place, header)}};
    if (!field.about.empty()) entry["about"] = field.about;
    fields.push_back(std::move(entry));
  });
  layers.push_back({{"name", kTable.name},
                    {"label", kTable.label},
                    {"source", kTable.source},
                    {"fields", fields}});
  at += kTable.bytes();
  return true;
}

/// What follows BTH, as far as it is there.
void add_extension(json& layers, std::span<const uint8_t> frame, size_t& at,
                   const Extension& extension) {
  if (const auto* write = std::get_if<WriteHeaders>(&extension)) {
    add_layer<kMethTable>(layers, frame, at);
    if (write->tseth) add_layer<kTsethTable>(layers, frame, at);
    if (write->reth) add_layer<kRethTable>(layers, frame, at);
    if (write->immediate) add_layer<kImmDtTable>(layers, frame, at);
  } else if (const auto* request = std::get_if<RcHeaders>(&extension)) {
    if (request->reth) add_layer<kRethTable>(layers, frame, at);
    if (request->immediate) add_layer<kImmDtTable>(layers, frame, at);
  } else if (std::holds_alternative<Aeth>(extension)) {
    add_layer<kAethTable>(layers, frame, at);
  } else if (std::holds_alternative<Seth>(extension)) {
    add_layer<kSethTable>(layers, frame, at) && add_layer<kCcStateTable>(layers, frame, at);
  } else if (std::holds_alternative<Neth>(extension)) {
    add_layer<kNethTable>(layers, frame, at);
  } else if (std::holds_alternative<Peth>(extension)) {
    add_layer<kPethTable>(layers, frame, at);
  } else if (std::holds_alternative<Erth>(extension)) {
    add_layer<kErthTable>(layers, frame, at);
  } else if (std::holds_alternative<Eeth>(extension)) {
    add_layer<kEethTable>(layers, frame, at);
  }
}

struct Place {
  FabricTime t;
  PortRef port;
  Direction side;
  PacketEvent event;
  DropCause cause;
  EntropyValue ev;
  uint64_t wire_length;
  std::vector<uint8_t> bytes;
};

/// Keeps the records of one packet.
class PacketWatcher : public NodeObserver {
 public:
  PacketWatcher(const Topology& topology, NodeId node, const PacketName& name,
                std::vector<Place>& places, uint64_t& left_out)
      : topology_(topology), node_(node), name_(name), places_(places), left_out_(left_out) {}

  void packet(const PacketRecord& record) override {
    constexpr size_t kBytesKept = 192;  // all headers that there are
    if (!record.frame) return;
    const auto encapsulation = encapsulation_of(record.frame.bytes());
    if (!encapsulation) return;
    const HistoryBytes bytes = history_record(record);
    constexpr FieldPlace kQp = place_of<kBthTable>("dqp"), kPsn = place_of<kBthTable>("psn");
    const std::span<const uint8_t> bth(&bytes[64], 12);
    if (bits_at(bth, kQp) != name_.qp.value || bits_at(bth, kPsn) != name_.psn.value()) return;
    MrcPacket packet;
    if (parse_mrc_frame(record.frame.bytes(), packet, {.allow_cut = true}) != ParseError::kNone)
      return;
    if (!carries_data(packet.bth.opcode)) return;
    if (host_of_address(topology_, packet.inner.source) != name_.source ||
        host_of_address(topology_, packet.inner.destination) != name_.destination) {
      return;
    }
    if (places_.size() >= kMaxPlaces) {
      ++left_out_;
      return;
    }
    const auto frame = record.frame.bytes();
    const size_t kept = std::min(frame.size() - packet.payload.size(), kBytesKept);
    places_.push_back({record.t,
                       {node_, record.port},
                       record.direction,
                       record.event,
                       record.cause,
                       packet.entropy(),
                       record.frame.wire_length().value,
                       {frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(kept)}});
  }
  void event(const EventRecord&) override {}

 private:
  const Topology& topology_;
  NodeId node_;
  const PacketName& name_;
  std::vector<Place>& places_;
  uint64_t& left_out_;
};

json place_json(const Topology& topology, const Place& place) {
  constexpr std::array<std::string_view, 3> kEvents{"passed", "trimmed", "dropped"};
  json entry{{"t_ps", place.t.ps()},
             {"node", place.port.node.value},
             {"port", topology.port_name(place.port)},
             {"side", place.side == Direction::kIngress ? "in" : "out"},
             {"event", kEvents.at(static_cast<size_t>(place.event))},
             {"wire_length", place.wire_length},
             {"bytes", place.bytes},
             {"layers", layers_of(place.bytes)}};
  if (place.event == PacketEvent::kDropped) {
    entry["cause"] = name_of(place.cause);
    entry["refused"] = drop_kind(place.cause) == DropKind::kRefused;
  }
  if (const auto path = path_of(place.ev)) entry["path"] = to_string(*path);
  return entry;
}

}  // namespace

json layers_of(std::span<const uint8_t> frame) {
  json layers = json::array();
  size_t at = 0;
  const auto encapsulation = encapsulation_of(frame);
  if (!encapsulation || !add_layer<kEthernetTable>(layers, frame, at)) return layers;
  if (*encapsulation == Encapsulation::kIpv4) {
    add_layer<kIpv4Table>(layers, frame, at);
  } else {
    add_layer<kIpv6Table>(layers, frame, at);
    if (*encapsulation == Encapsulation::kSrv6) add_layer<kIpv6Table>(layers, frame, at);
  }
  if (!add_layer<kUdpTable>(layers, frame, at)) return layers;
  MrcPacket packet;
  if (parse_mrc_frame(frame, packet, {.allow_cut = true}) != ParseError::kNone) return layers;
  if (add_layer<kBthTable>(layers, frame, at)) add_extension(layers, frame, at, packet.extension);
  return layers;
}

json look_at_packet(const Branch& branch, const PacketName& name, const SimWorld::GoOn& go_on) {
  const Topology& topology = branch.topology();
  std::vector<Place> places;
  uint64_t left_out = 0;
  {
    std::deque<PacketWatcher> watchers;  // by node
    for (const NodeSite& site : topology.nodes) {
      watchers.emplace_back(topology, site.id, name, places, left_out);
    }
    Simulation again(branch.scenario(), 1,
                     [&](NodeId node) -> NodeObserver& { return watchers[node.value]; });
    again.run(go_on, branch.reached());
  }
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.t != b.t ? a.t < b.t : a.side == Direction::kIngress && b.side == Direction::kEgress;
  });
  json list = json::array();
  uint32_t attempts = 0;
  std::map<EntropyValue, uint32_t> attempt_on;  // the last that was sent with this entropy value
  for (const Place& place : places) {
    const bool is_sent = place.side == Direction::kEgress &&
                         place.port.node == topology.host(name.source) &&
                         place.event == PacketEvent::kPassed;
    if (is_sent) attempt_on[place.ev] = ++attempts;
    json entry = place_json(topology, place);
    entry["attempt"] = attempt_on[place.ev];
    list.push_back(std::move(entry));
  }
  return {{"qp", name.qp.value},       {"psn", name.psn.value()},
          {"source", name.source},     {"destination", name.destination},
          {"places", std::move(list)}, {"left_out", left_out}};
}

}  // namespace mrclab::lab
