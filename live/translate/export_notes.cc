#include "live/translate/export_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/yaml.h"
#include "live/translate/switch_config.h"

namespace mrclab::lab {
namespace {

std::string rates_note(const ExportedFabric& fabric) {
  const FabricShape& shape = fabric.shape();
  const std::string modelled =
      fmt::format("rates ({} to hosts, {} between switches{}), ", exact(shape.host_rate),
                  exact(shape.fabric_rate), shape.link_rates.empty() ? "" : ", some others");
  const std::string latencies =
      fmt::format("propagation ({}), latencies of switches ({}) and NICs ({})",
                  exact(shape.propagation), exact(shape.switch_latency), exact(shape.host_latency));
  if (fabric.options().dilation == 0) {
    return "- " + modelled + latencies +
           ": a link is as fast as the machine (--dilation shapes it)";
  }
  return fmt::format("- {}: here each interface has a tbf of its link's rate / {:g}\n- {}",
                     modelled.substr(0, modelled.size() - 2), fabric.options().dilation, latencies);
}

/// Each line of `text`, broken where it is too long for a comment.
std::vector<std::string> comment_lines(const std::string& text) {
  constexpr size_t kWidth = 108;
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::vector<std::string> broken =
        wrapped_lines(text.substr(at, end - at), kWidth, 2, LongWords::kKeep);
    lines.insert(lines.end(), broken.begin(), broken.end());
    if (end == at) lines.emplace_back();
    at = end + 1;
  }
  return lines;
}

std::string routing_note(const ExportedFabric& fabric) {
  const RoutingChoice& routing = fabric.topology().routing;
  if (routing.by_default == Routing::kEcmp) {
    return "- routing: ecmp: these switches forward carriers (uSIDs) only, and do not hash";
  }
  if (!routing.is_fare()) return "";
  return "- delays, BFD and spraying of routing: fare; NICs do not speak BGP, T0s announce their "
         "hosts";
}

}  // namespace

std::vector<std::string> export_notes(const ExportedFabric& fabric, const std::string& what,
                                      const std::string& command) {
  const Topology& topology = fabric.topology();
  std::string text = fmt::format(
      "The fabric {} of mrclab as {}: {}, {}, {}.\nWritten by: {}\n\nPackets go by the wall clock "
      "there (timing: wall): no node carries fabric time, and there is no gate. So these of the "
      "fabric have no meaning:\n{}\n- ECN marks, trimming and lossless queues: a full queue "
      "drops\n- faults, captures and verdicts of scenarios: nothing here runs one\n",
      topology.name, what, counted_noun(topology.host_count(), "host"),
      counted_noun(fabric.switch_count(), "switch"), counted_noun(topology.links.size(), "link"),
      command, rates_note(fabric));
  if (const std::string note = routing_note(fabric); !note.empty()) text += note + "\n";
  if (fabric.options().bare) {
    text += "Nodes and links alone: nothing is configured.\n";
  } else {
    for (const std::string& sentence : unsaid(fabric)) text += sentence + "\n";
    if (!fabric.links_hosts()) {
      text += fmt::format("Hosts have no routes to each other: a fabric of more than {}.\n",
                          counted_noun(ExportedFabric::kMostLinkedHosts, "host"));
    }
  }
  return comment_lines(text);
}

std::string as_comment(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line.empty() ? "#\n" : "# " + line + "\n";
  return text;
}

}  // namespace mrclab::lab
