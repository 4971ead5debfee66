#include "analysis/verdict/pause_report.h"

#include <algorithm>
#include <string>

#include "analysis/measure/pause_times.h"

namespace mrclab::analysis {
namespace {

/// Roots that the story names.
constexpr size_t kMostTold = 3;

/// The places of one root: [first, last) of the tree, and the longest that a port stood because of it.
struct Root {
  NodeId node;
  size_t first = 0, last = 0;
  FabricTime longest, since = FabricTime::never();
};

std::vector<Root> roots_of(const PauseTree& tree) {
  std::vector<Root> roots;
  for (size_t i = 0; i < tree.places.size(); ++i) {
    const PausedPort& place = tree.places[i];
    const bool top = place.above == PausedPort::kRoot;
    if (top && (roots.empty() || roots.back().node != place.asked_by)) {
      Root root;
      root.node = place.asked_by;
      root.first = i;
      roots.push_back(root);
    }
    roots.back().last = i + 1;
    if (!top) continue;
    roots.back().longest = std::max(roots.back().longest, place.stood);
    roots.back().since = std::min(roots.back().since, place.first);
  }
  return roots;
}

std::string ports_in_words(uint64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

}  // namespace

PauseTree pause_tree(const Topology& topology, const Evidence& evidence,
                     std::span<const ScheduledEffect> schedule, FabricTime end) {
  const PauseTimes times(topology, evidence.packets().pauses(), schedule, end);
  return pause_tree(topology, times, evidence.turns(), FabricTime::zero(), end);
}

std::vector<StoryLine> pause_story(const Topology& topology, const PauseTree& tree) {
  std::vector<StoryLine> lines;
  const std::vector<Root> roots = roots_of(tree);
  for (size_t i = 0; i < roots.size() && i < kMostTold; ++i) {
    const Root& root = roots[i];
    const auto places = std::span(tree.places).subspan(root.first, root.last - root.first);
    const auto top = static_cast<size_t>(std::count_if(
        places.begin(), places.end(), [](const PausedPort& p) { return p.depth == 0; }));
    std::string text = pauser_name(topology, root.node) + " asked " +
                       ports_in_words(top, "port", "ports") + " to stop, the longest, " +
                       topology.port_name(places.front().port) + ", for " +
                       to_string(root.longest) + " in all.";
    if (const size_t below = places.size() - top; below > 0) {
      text += " Because of that " + ports_in_words(below, "more port", "more ports") +
              " stood, up to " +
              topology.port_name(
                  std::max_element(places.begin(), places.end(),
                                   [](const auto& a, const auto& b) { return a.depth < b.depth; })
                      ->port) +
              ".";
    }
    lines.push_back({root.since, "paused", std::move(text), {}});
  }
  return lines;
}

}  // namespace mrclab::analysis
