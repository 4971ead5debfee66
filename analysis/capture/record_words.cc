#include "analysis/capture/record_words.h"

#include <algorithm>

#include "fabric/text/words.h"

namespace mrclab::analysis {
namespace {

constexpr std::string_view kDrops = ":drop", kDropWord = "drop:", kTrimmedWord = "trimmed";

DropCause cause_named(std::string_view name) {
  for (uint8_t i = 1; i < kDropCauses; ++i) {
    if (name_of(static_cast<DropCause>(i)) == name) return static_cast<DropCause>(i);
  }
  return DropCause::kMalformed;
}

}  // namespace

CapturePlace place_named(const Topology& topology, std::string_view interface) {
  using PlaceKind = CapturePlace::Kind;
  if (interface.ends_with(kDrops)) {
    const auto node = topology.find_node(interface.substr(0, interface.size() - kDrops.size()));
    return node ? CapturePlace{PlaceKind::kDrops, {*node, PortId{}}} : CapturePlace{};
  }
  const std::optional<PortRef> port = topology.find_port(interface);
  if (!port) return {};
  const bool host = topology.node(port->node).role == NodeRole::kHost;
  return {host ? PlaceKind::kHostPort : PlaceKind::kSwitchPort, *port};
}

bool names_host_port(std::string_view interface) {
  const auto digits = [&interface] {
    const size_t end = std::min(interface.find_first_not_of("0123456789"), interface.size());
    interface.remove_prefix(end);
    return end > 0;
  };
  if (!interface.starts_with('h')) return false;
  interface.remove_prefix(1);
  if (!digits() || !interface.starts_with(":p")) return false;
  interface.remove_prefix(2);
  return digits() && interface.empty();
}

RecordNote read_note(std::string_view comment) {
  RecordNote note;
  if (comment.starts_with(kTrimmedWord)) note.event = PacketEvent::kTrimmed;
  if (!comment.starts_with(kDropWord)) return note;
  note.event = PacketEvent::kDropped;
  comment.remove_prefix(kDropWord.size());
  note.cause = cause_named(take_word(comment));
  note.port = take_word(comment).substr(0, kMaxNameBytes);
  const std::string_view side = take_word(comment);
  if (side == "in") note.side = Direction::kIngress;
  if (side == "out") note.side = Direction::kEgress;
  return note;
}

}  // namespace mrclab::analysis
