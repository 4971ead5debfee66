#include "analysis/measure/window_flows.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace mrclab::analysis {
namespace {

template <class Value>
Value median_of(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_counts(const WindowRecord& said, WindowFlow& flow) {
  for (size_t i = 0; i < flow.answers.size(); ++i) flow.answers[i] += said.answers[i];
  for (size_t i = 0; i < flow.cuts.size(); ++i) {
    flow.cuts[i].times += said.cuts[i].times;
    flow.cuts[i].taken += said.cuts[i].taken.value;
  }
  if (said.largest) flow.largest = said.largest;
  if (said.target) flow.target = said.target;
  if (said.base_rtt) flow.base_rtt = said.base_rtt;
  if (said.most_delay) {
    flow.delay_most = std::max(flow.delay_most.value_or(*said.most_delay), *said.most_delay);
  }
}

void measure_windows(std::span<const WindowNews> news, WindowFlow& flow) {
  std::vector<Bytes> windows, in_flight;
  std::vector<FabricTime> delays;
  windows.reserve(flow.news.size());
  in_flight.reserve(flow.news.size());
  delays.reserve(flow.news.size());
  for (const uint32_t place : flow.news) {
    const WindowRecord& said = news[place].said;
    windows.push_back(said.window);
    in_flight.push_back(said.in_flight);
    if (said.delay) delays.push_back(*said.delay);
    add_counts(said, flow);
  }
  flow.least = *std::min_element(windows.begin(), windows.end());
  flow.most = *std::max_element(windows.begin(), windows.end());
  flow.in_flight_most = *std::max_element(in_flight.begin(), in_flight.end());
  flow.median = median_of(std::move(windows));
  flow.in_flight_median = median_of(std::move(in_flight));
  if (!delays.empty()) flow.delay_median = median_of(std::move(delays));
}

}  // namespace

uint64_t WindowFlow::all_answers() const {
  return std::accumulate(answers.begin(), answers.end(), uint64_t{0});
}

WindowFlow::Cuts WindowFlow::all_cuts() const {
  Cuts all;
  for (const Cuts& cut : cuts) {
    all.times += cut.times;
    all.taken += cut.taken;
  }
  return all;
}

std::vector<WindowFlow> window_flows(const Topology& topology, std::span<const WindowNews> news,
                                     FabricTime from, FabricTime until) {
  std::map<std::pair<uint32_t, uint32_t>, WindowFlow> by_hosts;
  for (uint32_t i = 0; i < news.size(); ++i) {
    if (news[i].said.t < from || news[i].said.t >= until) continue;
    const uint32_t peer = topology.node(news[i].said.peer).index;
    by_hosts[{news[i].host, peer}].news.push_back(i);
  }
  std::vector<WindowFlow> flows;
  flows.reserve(by_hosts.size());
  for (auto& [hosts, flow] : by_hosts) {
    flow.host = hosts.first;
    flow.peer = hosts.second;
    measure_windows(news, flow);
    flows.push_back(std::move(flow));
  }
  std::stable_sort(flows.begin(), flows.end(), [](const WindowFlow& a, const WindowFlow& b) {
    return a.all_cuts().taken > b.all_cuts().taken;
  });
  return flows;
}

std::string main_cuts(const WindowFlow& flow, size_t causes_max) {
  const uint64_t all = flow.all_cuts().taken;
  if (all == 0) return "";
  std::vector<size_t> causes(flow.cuts.size());
  std::iota(causes.begin(), causes.end(), size_t{0});
  std::stable_sort(causes.begin(), causes.end(),
                   [&](size_t a, size_t b) { return flow.cuts[a].taken > flow.cuts[b].taken; });
  std::string text;
  for (size_t i = 0; i < std::min(causes_max, causes.size()); ++i) {
    const uint64_t taken = flow.cuts[causes[i]].taken;
    const uint64_t percent = (taken * 100 + all / 2) / all;
    if (taken == 0 || (i > 0 && percent == 0)) break;
    text += (text.empty() ? "" : ", ") + std::string(kCutWords[causes[i]]) + " " +
            std::to_string(percent) + "%";
  }
  return text;
}

}  // namespace mrclab::analysis
