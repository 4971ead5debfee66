#include "job/measure/job_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <tuple>

namespace mrclab::job {
namespace {

using nlohmann::ordered_json;

/// Gives the operations of one rank their lanes, in order of their beginning.
class RankLanes {
 public:
  RankLanes(const PlannedJob& plan, std::vector<std::string>& names) : plan_(plan), names_(names) {}

  uint32_t lane_of(uint32_t op, const LaneBar& bar) {
    const Op& is = plan_.graph.op(op);
    const bool computing = computes(is);
    const std::string name = !computing     ? exchange_group(plan_, op)
                             : is.lane == 0 ? "compute"
                                            : fmt::format("compute {}", is.lane + 1);
    std::vector<Free>& lanes = by_name_[name];
    size_t place = 0;
    while (place < lanes.size() && lanes[place].from > bar.begin) ++place;
    if (place == lanes.size() && place < kMaxLanesOfGroup) {
      lanes.push_back({static_cast<uint32_t>(names_.size()), FabricTime::zero()});
      names_.push_back(place == 0 ? name : fmt::format("{} {}", name, place + 1));
    }
    Free& lane = lanes[std::min(place, lanes.size() - 1)];
    lane.from = std::max(lane.from, bar.end);
    return lane.lane;
  }

 private:
  struct Free {
    uint32_t lane = 0;
    FabricTime from;
  };
  const PlannedJob& plan_;
  std::vector<std::string>& names_;
  std::map<std::string, std::vector<Free>> by_name_;
};

std::string dumped(const ordered_json& event) {
  return event.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

JobLanes lanes_of(const PlannedJob& plan, const OpSpans& spans, size_t most) {
  JobLanes result;
  result.lanes.resize(plan.graph.ranks());
  for (uint32_t i = 0; i < spans.ops.size(); ++i) {
    const Op& op = plan.graph.op(i);
    const OpSpan& span = spans.ops[i];
    if (!computes(op) && !exchanges(op)) continue;
    LaneBar bar{op.rank, 0, i, span.begin, std::min(span.end, spans.horizon), {}};
    bar.active = std::min(span.active, bar.end);
    if (bar.begin == FabricTime::never() || bar.begin >= bar.end) continue;
    result.bars.push_back(bar);
  }
  std::sort(result.bars.begin(), result.bars.end(), [](const LaneBar& a, const LaneBar& b) {
    return std::tuple(a.rank, a.begin, a.op) < std::tuple(b.rank, b.begin, b.op);
  });
  if (result.bars.size() > most) {
    // The earliest of all ranks, so that no rank lacks what others show.
    std::vector<LaneBar> kept = result.bars;
    std::nth_element(kept.begin(), kept.begin() + static_cast<ptrdiff_t>(most), kept.end(),
                     [](const LaneBar& a, const LaneBar& b) {
                       return std::pair(a.begin, a.op) < std::pair(b.begin, b.op);
                     });
    const auto first_out = std::pair(kept[most].begin, kept[most].op);
    result.left_out = std::erase_if(
        result.bars, [&](const LaneBar& bar) { return std::pair(bar.begin, bar.op) >= first_out; });
  }
  size_t next = 0;
  for (uint32_t rank = 0; rank < result.lanes.size(); ++rank) {
    RankLanes lanes(plan, result.lanes[rank]);
    for (; next < result.bars.size() && result.bars[next].rank == rank; ++next) {
      result.bars[next].lane = lanes.lane_of(result.bars[next].op, result.bars[next]);
    }
  }
  return result;
}

std::string bar_text(const PlannedJob& plan, uint32_t op) {
  const Op& is = plan.graph.op(op);
  const std::string& label = plan.labels[plan.label_of[op]].text;
  if (is.kind == OpKind::kCompute) return label.empty() ? "compute" : label;
  const std::string what =
      is.kind == OpKind::kCollective
          ? fmt::format("{} {}", name_of(is.collective), exchange_group(plan, op))
      : is.kind == OpKind::kSend ? fmt::format("send to rank {}", is.peer)
      : is.peer == kAnyPeer      ? "receive"
                                 : fmt::format("receive from rank {}", is.peer);
  return label.empty() ? what : fmt::format("{} ({})", label, what);
}

void write_chrome_trace(const PlannedJob& plan, const JobLanes& lanes, std::ostream& out) {
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const char* between = "\n";
  const auto put = [&](const ordered_json& event) {
    out << between << dumped(event);
    between = ",\n";
  };
  for (uint32_t rank = 0; rank < lanes.lanes.size(); ++rank) {
    put({{"ph", "M"},
         {"name", "process_name"},
         {"pid", rank},
         {"args", {{"name", fmt::format("{} rank {}", plan.name, rank)}}}});
    put({{"ph", "M"},
         {"name", "process_sort_index"},
         {"pid", rank},
         {"args", {{"sort_index", rank}}}});
    for (size_t lane = 0; lane < lanes.lanes[rank].size(); ++lane) {
      put({{"ph", "M"},
           {"name", "thread_name"},
           {"pid", rank},
           {"tid", lane},
           {"args", {{"name", lanes.lanes[rank][lane]}}}});
    }
  }
  for (const LaneBar& bar : lanes.bars) {
    const Op& op = plan.graph.op(bar.op);
    ordered_json arguments{{"step", plan.step_of[bar.op]}};
    if (op.kind != OpKind::kCompute) {
      arguments["bytes"] = op.bytes;
      arguments["waited_us"] = (bar.active - bar.begin).us();
    }
    put({{"ph", "X"},
         {"name", bar_text(plan, bar.op)},
         {"cat", name_of(op.kind)},
         {"ts", bar.begin.us()},
         {"dur", (bar.end - bar.begin).us()},
         {"pid", bar.rank},
         {"tid", bar.lane},
         {"args", arguments}});
  }
  out << "\n]}\n";
}

}  // namespace mrclab::job
