#include "analysis/capture/capture_frame.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

DropCause cause_named(std::string_view name) {
  for (uint8_t i = 1; i < kDropCauses; ++i) {
    if (name_of(static_cast<DropCause>(i)) == name) return static_cast<DropCause>(i);
  }
  return DropCause::kMalformed;
}

/// The next word of a comment.
std::string_view take_word(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const size_t end = std::min(text.find(' ', begin), text.size());
  const std::string_view word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return word;
}

}  // namespace

DropComment read_drop_comment(const Topology& topology, NodeId node, std::string_view comment) {
  DropComment drop;
  if (take_word(comment) != "drop:") return drop;
  drop.cause = cause_named(take_word(comment));
  for (std::string_view word = take_word(comment); !word.empty(); word = take_word(comment)) {
    if (word == "in") drop.side = Direction::kIngress;
    if (word == "out") drop.side = Direction::kEgress;
    const size_t colon = word.rfind(':');
    if (colon == std::string_view::npos) continue;
    const auto& ports = topology.node(node).ports;
    for (uint32_t i = 0; i < ports.size(); ++i) {
      if (ports[i].name == word.substr(colon + 1)) drop.port = PortId{i};
    }
  }
  return drop;
}

}  // namespace mrclab::analysis
