#include "job/run/job_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "fabric/text/counted_noun.h"
#include "job/graph/message_graph.h"
#include "job/run/critical_path.h"

namespace mrclab::job {
namespace {

std::vector<ExchangeCount> exchanges_of(const OpGraph& job) {
  std::map<std::string, ExchangeCount> by_name;
  for (const Op& op : job.ops()) {
    if (op.kind != OpKind::kSend && op.kind != OpKind::kCollective) continue;
    std::string what = "messages";
    if (op.kind == OpKind::kCollective) {
      const std::vector<uint32_t>& ranks = job.groups()[op.group].ranks;
      if (op.rank != ranks.front()) continue;
      what = fmt::format("{} of {}", name_of(op.collective), counted_noun(ranks.size(), "rank"));
    }
    ExchangeCount& entry = by_name[what];
    entry.what = what;
    ++entry.count;
    entry.bytes += op.bytes;
  }
  std::vector<ExchangeCount> list;
  list.reserve(by_name.size());
  for (auto& [name, entry] : by_name) list.push_back(std::move(entry));
  std::stable_sort(list.begin(), list.end(), [](const ExchangeCount& a, const ExchangeCount& b) {
    return a.bytes > b.bytes;
  });
  return list;
}

/// Rounds of a collective that wait for each other, and what a rank sends in it (message_graph.h).
std::pair<uint32_t, uint64_t> rounds_and_bytes(const Op& op, uint32_t ranks) {
  const uint64_t others = ranks - 1, ring = op.bytes / ranks * others;
  switch (op.collective) {
    case Collective::kAllReduce:
      if (op.algorithm == Algorithm::kRing) return {2 * (ranks - 1), 2 * ring};
      return {2 * static_cast<uint32_t>(std::bit_width(others)), 2 * op.bytes};
    case Collective::kReduceScatter:
    case Collective::kAllGather: return {ranks - 1, ring};
    case Collective::kAllToAll: return {1, ring};
    case Collective::kBroadcast: return {ranks - 1, op.bytes};
    case Collective::kBarrier: break;
  }
  return {0, 0};  // it has no bytes that a rate could matter to
}

std::vector<LatencyBound> latency_bound_of(const OpGraph& job, const IdealNetwork& network,
                                           const RankSites& sites) {
  std::map<std::string, LatencyBound> by_name;
  for (const Op& op : job.ops()) {
    if (op.kind != OpKind::kCollective) continue;
    const std::vector<uint32_t>& ranks = job.groups()[op.group].ranks;
    if (op.rank != ranks.front() || ranks.size() < 2) continue;
    const bool is_local = std::all_of(ranks.begin(), ranks.end(), [&](uint32_t rank) {
      return sites.is_shared(rank, ranks.front());
    });
    if (is_local) continue;  // no network
    const auto [rounds, bytes] = rounds_and_bytes(op, static_cast<uint32_t>(ranks.size()));
    const FabricTime waiting = network.latency * rounds;
    const FabricTime sending = serialization_time({bytes}, network.rate);
    if (waiting + sending == FabricTime::zero()) continue;
    const double part =
        static_cast<double>(waiting.ps()) / static_cast<double>((waiting + sending).ps());
    if (part <= kLatencyBoundShare) continue;
    const std::string what = fmt::format("{} of {}, {} B", name_of(op.collective),
                                         counted_noun(ranks.size(), "rank"), op.bytes);
    const auto at = by_name.try_emplace(what, LatencyBound{what, 0, rounds, part}).first;
    ++at->second.count;
  }
  std::vector<LatencyBound> list;
  list.reserve(by_name.size());
  for (auto& [name, entry] : by_name) list.push_back(std::move(entry));
  std::stable_sort(list.begin(), list.end(),
                   [](const LatencyBound& a, const LatencyBound& b) { return a.share > b.share; });
  if (list.size() > kMaxLatencyBound) list.resize(kMaxLatencyBound);
  return list;
}

std::string bytes_text(uint64_t bytes) {
  constexpr double kUnit = 1000;
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  constexpr std::array<std::string_view, 6> kUnits{"B", "kB", "MB", "GB", "TB", "PB"};
  while (value >= kUnit && unit + 1 < kUnits.size()) {
    value /= kUnit;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit > 0 ? 1 : 0, kUnits[unit]);
}

double share(FabricTime part, FabricTime whole) {
  return whole.ps() > 0 ? 100.0 * static_cast<double>(part.ps()) / static_cast<double>(whole.ps())
                        : 0;
}

}  // namespace

JobSummary summary_of(const OpGraph& job, const IdealNetwork& network, const RankSites& sites) {
  JobSummary summary;
  summary.ranks = job.ranks();
  summary.operations = job.ops().size();
  summary.network = network;
  summary.exchanges = exchanges_of(job);
  summary.latency_bound = latency_bound_of(job, network, sites);
  const JobProgram program(job, sites);
  std::vector<FabricTime> computing(job.ranks());
  std::vector<uint64_t> sent(job.ranks());
  for (uint32_t i = 0; i < program.graph().ops().size(); ++i) {
    const Op& op = program.graph().op(i);
    if (op.kind == OpKind::kCompute && op.lane != kNoLane) computing[op.rank] += op.duration;
    if (op.kind != OpKind::kSend) continue;
    ++summary.messages;
    if (!program.is_local(i)) sent[op.rank] += op.bytes;
  }
  summary.most_computing = *std::max_element(computing.begin(), computing.end());
  summary.least_computing = *std::min_element(computing.begin(), computing.end());
  summary.most_sent = *std::max_element(sent.begin(), sent.end());
  for (const PathPiece& piece : critical_path(program.messages(), ideal_times(program, network))) {
    const FabricTime time = piece.end - piece.begin;
    summary.ideal += time;
    (piece.kind == PathPiece::Kind::kCompute   ? summary.computing
     : piece.kind == PathPiece::Kind::kMessage ? summary.exchanging
                                               : summary.waiting) += time;
  }
  return summary;
}

std::string to_text(const JobSummary& summary) {
  std::string text = fmt::format("ranks      {}, {}, {}\n", summary.ranks,
                                 counted_noun(summary.operations, "operation"),
                                 counted_noun(summary.messages, "message"));
  text += summary.most_computing == summary.least_computing
              ? fmt::format("computing  {} in each rank\n", to_string(summary.most_computing))
              : fmt::format("computing  {} to {} in a rank\n", to_string(summary.least_computing),
                            to_string(summary.most_computing));
  text += fmt::format("sent       {} by the rank that sends most\n", bytes_text(summary.most_sent));
  for (const ExchangeCount& entry : summary.exchanges) {
    text += fmt::format("           {} {}: {}\n", entry.count, entry.what, bytes_text(entry.bytes));
  }
  text += fmt::format("ideal      {} at {} Gb/s a rank and {} one way\n", to_string(summary.ideal),
                      summary.network.rate.bps / 1'000'000'000, to_string(summary.network.latency));
  text += fmt::format(
      "           of the path to its end {:.1f} % computing, {:.1f} % messages, "
      "{:.1f} % waiting\n",
      share(summary.computing, summary.ideal), share(summary.exchanging, summary.ideal),
      share(summary.waiting, summary.ideal));
  for (const LatencyBound& entry : summary.latency_bound) {
    text += fmt::format("latency    {} {}: {:.0f} % of the time is the way of {}\n", entry.count,
                        entry.what, 100 * entry.share, counted_noun(entry.rounds, "round"));
  }
  return text;
}

}  // namespace mrclab::job
