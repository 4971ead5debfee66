// The windows that hosts reported, as tables. Nothing in them comes from a packet, as their titles state.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/measure/window_flows.h"
#include "recorded/traffic/traffic_tables.h"

namespace mrclab::lab {
namespace {

using analysis::WindowFlow;
using Json = nlohmann::ordered_json;

/// Rows of `window_records`; a long run has more.
constexpr size_t kMaxWindowRows = 100'000;
constexpr size_t kMainCauses = 2;

Json ns_of(const std::optional<FabricTime>& time) {
  return time ? Json(static_cast<double>(time->ps()) * 1e-3) : Json();
}
Json bytes_of(const std::optional<Bytes>& bytes) { return bytes ? Json(bytes->value) : Json(); }

template <class Word, size_t kCount>
Json word_of(const std::array<std::string_view, kCount>& words, const std::optional<Word>& word) {
  return word ? Json(words[static_cast<size_t>(*word)]) : Json();
}

/// Windows are those of a destination: neither a queue pair nor a path has one of its own.
bool is_asked_for(const WindowFlow& flow, const TrafficContext& context) {
  const auto& [a, b] = context.windows.between;
  if (!a || !b) return true;
  return (flow.host == *a && flow.peer == *b) || (flow.host == *b && flow.peer == *a);
}

/// The flows of a table, which gets the notes about them: `meaning` of its columns if there are any.
std::vector<WindowFlow> reported_flows(const TrafficContext& context, TrafficTable& table,
                                       const char* meaning = nullptr) {
  const WindowSource& source = context.windows;
  table.notes = source.notes;
  // If no host reported windows, "none" would be a claim.
  table.without_rows = source.news.empty() ? "unknown" : "none";
  if (source.news.empty() && source.notes.empty()) {
    table.notes.emplace_back("known of a run only, whose hosts report it: mrclab analyze RUN");
  }
  if (context.topology == nullptr || source.news.empty()) return {};
  auto flows = window_flows(*context.topology, source.news, source.from, source.until);
  std::erase_if(flows, [&](const WindowFlow& flow) { return !is_asked_for(flow, context); });
  if (source.complete_until != FabricTime::never()) {
    table.notes.push_back(fmt::format("from {} on some are missing: more than a run keeps",
                                      to_string(source.complete_until)));
  }
  if (!flows.empty() && meaning != nullptr) table.notes.emplace_back(meaning);
  return flows;
}

std::string flow_of(const TrafficContext& context, uint32_t host, uint32_t peer) {
  const Topology& topology = *context.topology;
  return topology.node(topology.host(host)).name + ">" + topology.node(topology.host(peer)).name;
}

}  // namespace

TrafficTable windows_table(const analysis::Traffic&, const TrafficContext& context) {
  TrafficTable table{"windows",
                     "Windows, as hosts reported them: no packet shows them",
                     {{"flow", "flow"},
                      {"least_bytes", "least", Shown::kBytes},
                      {"median_bytes", "median", Shown::kBytes},
                      {"most_bytes", "most", Shown::kBytes},
                      {"largest_bytes", "allowed", Shown::kBytes},
                      {"in_flight_median_bytes", "in flight", Shown::kBytes},
                      {"in_flight_most_bytes", "", Shown::kBytes},
                      {"delay_median_ns", "delay", Shown::kNanoseconds},
                      {"delay_most_ns", "most", Shown::kNanoseconds},
                      {"target_ns", "target", Shown::kNanoseconds},
                      {"base_rtt_ns", "", Shown::kNanoseconds},
                      {"records", "", Shown::kPlain}},
                     {},
                     {},
                     true};
  const std::vector<WindowFlow> flows = reported_flows(
      context, table,
      "in flight, delay: the median; delay: of queues, round trip - base RTT; of a destination, "
      "over all queue pairs to it");
  table.rows.reserve(flows.size());
  for (const WindowFlow& f : flows) {
    table.rows.push_back({flow_of(context, f.host, f.peer), f.least.value, f.median.value,
                          f.most.value, bytes_of(f.largest), f.in_flight_median.value,
                          f.in_flight_most.value, ns_of(f.delay_median), ns_of(f.delay_most),
                          ns_of(f.target), ns_of(f.base_rtt), f.news.size()});
  }
  return table;
}

TrafficTable window_cuts_table(const analysis::Traffic&, const TrafficContext& context) {
  TrafficTable table{"window_cuts",
                     "What answers brought to those windows, and what cut them, as hosts reported",
                     {{"flow", "flow"}, {"answers", ""}},
                     {},
                     {},
                     true};
  for (const std::string_view word : kQuadrantWords) {
    const std::string name(word);
    table.columns.push_back(
        {name + "_share", name == "marked_late" ? "both" : name, Shown::kPercent});
  }
  table.columns.push_back({"cuts", ""});
  table.columns.push_back({"taken_bytes", "taken", Shown::kBytes});
  table.columns.push_back({"mostly", "mostly by"});
  for (const std::string_view word : kCutWords) {
    table.columns.push_back({std::string(word) + "_cuts", ""});
    table.columns.push_back({std::string(word) + "_bytes", "", Shown::kBytes});
  }
  const std::vector<WindowFlow> flows = reported_flows(
      context, table,
      "clear: no mark, delay below target; late: above it; marked: by ECN; both: marked and late");
  table.rows.reserve(flows.size());
  for (const WindowFlow& f : flows) {
    const WindowFlow::Cuts cuts = f.all_cuts();
    const uint64_t answers = f.all_answers();
    std::vector<Json> row{flow_of(context, f.host, f.peer), answers};
    for (const uint64_t count : f.answers) {
      row.push_back(answers == 0 ? Json()
                                 : Json(static_cast<double>(count) / static_cast<double>(answers)));
    }
    const std::string mostly = main_cuts(f, kMainCauses);
    row.insert(row.end(), {cuts.times, cuts.taken, mostly.empty() ? Json() : Json(mostly)});
    for (const WindowFlow::Cuts& cut : f.cuts) row.insert(row.end(), {cut.times, cut.taken});
    table.rows.push_back(std::move(row));
  }
  return table;
}

TrafficTable window_records_table(const analysis::Traffic&, const TrafficContext& context) {
  TrafficTable table{"window_records",
                     "Windows over time, as hosts reported them",
                     {{"t_ns", "at", Shown::kNanoseconds},
                      {"flow", "flow"},
                      {"window_bytes", "window", Shown::kBytes},
                      {"in_flight_bytes", "in flight", Shown::kBytes},
                      {"delay_ns", "delay", Shown::kNanoseconds},
                      {"quadrant", "answers"},
                      {"cut", "last cut"},
                      {"cuts", ""},
                      {"taken_bytes", "taken", Shown::kBytes}},
                     {},
                     {},
                     false};
  const std::vector<WindowFlow> flows = reported_flows(context, table);
  std::vector<std::pair<uint32_t, const WindowFlow*>> places;  // in order of time
  for (const WindowFlow& flow : flows) {
    for (const uint32_t place : flow.news) places.emplace_back(place, &flow);
  }
  std::sort(places.begin(), places.end(),
            [&news = context.windows.news](const auto& a, const auto& b) {
              const FabricTime at = news[a.first].said.t, other = news[b.first].said.t;
              return at != other ? at < other : a.first < b.first;
            });
  if (places.size() > kMaxWindowRows) {
    table.notes.push_back(
        fmt::format("{} later ones are left out", places.size() - kMaxWindowRows));
    places.resize(kMaxWindowRows);
  }
  table.rows.reserve(places.size());
  for (const auto& [place, flow] : places) {
    const WindowRecord& record = context.windows.news[place].said;
    uint64_t cuts = 0, taken = 0;
    for (const WindowRecord::Cuts& cut : record.cuts) {
      cuts += cut.times;
      taken += cut.taken.value;
    }
    table.rows.push_back({ns_of(record.t), flow_of(context, flow->host, flow->peer),
                          record.window.value, record.in_flight.value, ns_of(record.delay),
                          word_of(kQuadrantWords, record.quadrant), word_of(kCutWords, record.cut),
                          cuts, taken});
  }
  return table;
}

}  // namespace mrclab::lab
