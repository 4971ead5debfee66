#include "analysis/report/window_picture.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/measure/window_flows.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

double kib(uint64_t bytes) { return std::round(static_cast<double>(bytes) / 102.4) / 10; }
double rounded_us(FabricTime t) { return std::round(t.us() * 1e4) / 1e4; }
Json rounded_us_or_null(const std::optional<FabricTime>& t) {
  return t ? Json(rounded_us(*t)) : Json(nullptr);
}

/// The place of the largest of some counts; -1 if all are 0.
int place_of_most(const auto& counts, auto&& size_of) {
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [&](const auto& a, const auto& b) { return size_of(a) < size_of(b); });
  return size_of(*most) == 0 ? -1 : static_cast<int>(most - counts.begin());
}

/// One point for `news`, which follow one another: the last window, the longest delay, the quadrant and the
/// cause that count most, and what all causes took.
Json point_of(const EventHistory& events, std::span<const uint32_t> news) {
  WindowFlow sum;
  std::optional<FabricTime> delay;
  for (const uint32_t place : news) {
    const WindowRecord& said = events.windows()[place].said;
    for (size_t i = 0; i < sum.answers.size(); ++i) sum.answers[i] += said.answers[i];
    for (size_t i = 0; i < sum.cuts.size(); ++i) sum.cuts[i].taken += said.cuts[i].taken.value;
    if (said.most_delay) delay = std::max(delay.value_or(*said.most_delay), *said.most_delay);
  }
  const WindowRecord& last = events.windows()[news.back()].said;
  return {rounded_us(last.t),
          kib(last.window.value),
          kib(last.in_flight.value),
          rounded_us_or_null(delay),
          place_of_most(sum.answers, [](uint64_t count) { return count; }),
          place_of_most(sum.cuts, [](const WindowFlow::Cuts& cuts) { return cuts.taken; }),
          kib(sum.all_cuts().taken)};
}

Json points_of(const EventHistory& events, const WindowFlow& flow) {
  const std::span<const uint32_t> news = flow.news;
  const size_t together = (news.size() + kMaxWindowPointsShown - 1) / kMaxWindowPointsShown;
  Json points = Json::array();
  for (size_t i = 0; i < news.size(); i += together) {
    points.push_back(point_of(events, news.subspan(i, std::min(together, news.size() - i))));
  }
  return points;
}

}  // namespace

Json windows_picture(const Topology& topology, const EventHistory& events) {
  const auto name = [&](uint32_t host) { return topology.node(topology.host(host)).name; };
  const std::vector<WindowFlow> flows = window_flows(topology, events.windows());
  Json list = Json::array();
  for (const WindowFlow& flow :
       std::span(flows).first(std::min(flows.size(), kMaxWindowFlowsShown))) {
    Json cuts = Json::array();
    for (const WindowFlow::Cuts& cut : flow.cuts) cuts.push_back({cut.times, kib(cut.taken)});
    list.push_back({{"from", name(flow.host)},
                    {"to", name(flow.peer)},
                    {"least", kib(flow.least.value)},
                    {"median", kib(flow.median.value)},
                    {"most", kib(flow.most.value)},
                    {"in_flight", kib(flow.in_flight_median.value)},
                    {"delay_us", rounded_us_or_null(flow.delay_median)},
                    {"target_us", rounded_us_or_null(flow.target)},
                    {"base_us", rounded_us_or_null(flow.base_rtt)},
                    {"answers", flow.answers},
                    {"cuts", std::move(cuts)},
                    {"mostly", main_cuts(flow, 2)},
                    {"points", points_of(events, flow)}});
  }
  const FabricTime until = events.windows_until();
  return {{"heard", events.heard()},
          {"until_us", until == FabricTime::never() ? Json(nullptr) : Json(rounded_us(until))},
          {"quadrants", kQuadrantWords},
          {"causes", kCutWords},
          {"flows", std::move(list)},
          {"left_out", flows.size() - std::min(flows.size(), kMaxWindowFlowsShown)}};
}

}  // namespace mrclab::analysis
