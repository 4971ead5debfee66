#include "job/measure/inspector_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "fabric/base/random.h"
#include "job/measure/collective_measure.h"

namespace mrclab::job {
namespace {

using nlohmann::ordered_json;

/// GB/s of so many bytes in a time.
double gigabytes(double bytes, FabricTime time) {
  return time > FabricTime::zero() ? bytes * 1e3 / static_cast<double>(time.ps()) : 0;
}

ordered_json header_of(const PlannedJob& plan, const Op& op) {
  const Group& group = plan.graph.groups()[op.group];
  const auto place = std::find(group.ranks.begin(), group.ranks.end(), op.rank);
  return {{"id", fmt::format("0x{:014x}", mix64(op.group) >> 8)},
          {"comm_name", group.name},
          {"rank", place - group.ranks.begin()},
          {"n_ranks", group.ranks.size()},
          {"nnodes", group.ranks.size()}};
}

ordered_json perf_of(const PlannedJob& plan, const Op& op, const OpSpan& span, uint64_t number) {
  const auto ranks = static_cast<uint32_t>(plan.graph.groups()[op.group].ranks.size());
  const bool of_a_part =
      op.collective == Collective::kAllGather || op.collective == Collective::kReduceScatter;
  const FabricTime time = span.end - span.begin;
  const BitRate bus = bus_bandwidth(op.collective, ranks, op.bytes, time);
  return {{"coll", nccl_name_of(op.collective)},
          {"coll_sn", number},
          {"coll_msg_size_bytes", of_a_part ? op.bytes / ranks : op.bytes},
          {"coll_exec_time_us", time.us()},
          {"coll_timing_source", "collective_cpu"},
          {"coll_algobw_gbs", gigabytes(static_cast<double>(op.bytes), time)},
          {"coll_busbw_gbs", static_cast<double>(bus.bps) / 8e9},
          {"event_trace_ts",
           {{"coll_start_ts", span.begin.us()},
            {"coll_stop_ts", span.end.us()},
            {"kernel_events", ordered_json::array()}}}};
}

}  // namespace

std::string_view nccl_name_of(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce: return "AllReduce";
    case Collective::kReduceScatter: return "ReduceScatter";
    case Collective::kAllGather: return "AllGather";
    case Collective::kAllToAll: return "AlltoAll";
    case Collective::kBroadcast: return "Broadcast";
    case Collective::kBarrier: break;
  }
  return {};
}

uint64_t write_inspector_lines(const PlannedJob& plan, const OpSpans& spans, std::ostream& out,
                               uint64_t most_bytes) {
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> numbers;  // by group and rank
  uint64_t bytes = 0, left_out = 0;
  for (uint32_t i = 0; i < spans.ops.size(); ++i) {
    const Op& op = plan.graph.op(i);
    const OpSpan& span = spans.ops[i];
    if (op.kind != OpKind::kCollective || op.collective == Collective::kBarrier) continue;
    const uint64_t number = ++numbers[{op.group, op.rank}];
    if (span.end == FabricTime::never()) continue;
    const ordered_json line{{"header", header_of(plan, op)},
                            {"metadata",
                             {{"inspector_output_format_version", "v4.0"},
                              {"git_rev", ""},
                              {"rec_mechanism", "mrclab"},
                              {"dump_timestamp_us", span.end.ps() / 1'000'000},
                              {"hostname", fmt::format("rank{}", op.rank)},
                              {"pid", op.rank + 1}}},
                            {"coll_perf", perf_of(plan, op, span, number)}};
    const std::string text =
        line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
    if (left_out > 0 || bytes + text.size() > most_bytes) {
      ++left_out;
      continue;
    }
    bytes += text.size();
    out << text;
  }
  return left_out;
}

}  // namespace mrclab::job
