#include "job/measure/job_export.h"

#include <fmt/format.h>

#include <algorithm>

namespace mrclab::job {
namespace {

using nlohmann::ordered_json;

ordered_json time_json(FabricTime t) {
  return t == FabricTime::never() ? ordered_json(nullptr) : ordered_json(t.ps());
}
ordered_json rank_json(uint32_t rank) {
  return rank == kNoRank ? ordered_json(nullptr) : ordered_json(rank);
}
ordered_json spread_json(const TimeSpread& spread) {
  return {{"mean", spread.mean.ps()},
          {"p50", spread.p50.ps()},
          {"p99", spread.p99.ps()},
          {"max", spread.max.ps()}};
}

/// The longest, which still sum to the whole with "others".
ordered_json path_json(std::vector<PathPart> parts) {
  std::stable_sort(parts.begin(), parts.end(),
                   [](const PathPart& a, const PathPart& b) { return a.time > b.time; });
  ordered_json list = ordered_json::array();
  FabricTime rest;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i < kMaxExportedParts) {
      list.push_back({{"what", text_of(parts[i])}, {"time_ps", parts[i].time.ps()}});
    } else {
      rest += parts[i].time;
    }
  }
  if (rest > FabricTime::zero()) list.push_back({{"what", "others"}, {"time_ps", rest.ps()}});
  return list;
}

ordered_json exposed_json(const std::vector<GroupExposure>& exposed,
                          const std::vector<std::string>& groups) {
  ordered_json object = ordered_json::object();
  for (size_t i = 0; i < exposed.size(); ++i) {
    object[groups[i]] = {{"mean_ps", exposed[i].mean.ps()},
                         {"most_ps", exposed[i].most.ps()},
                         {"most_rank", exposed[i].most_rank}};
  }
  return object;
}

ordered_json step_json(const StepMeasure& step, size_t number,
                       const std::vector<std::string>& groups) {
  ordered_json object{{"step", number},
                      {"finished", step.finished},
                      {"begin_ps", step.begin.ps()},
                      {"end_ps", time_json(step.end)},
                      {"time_ps", time_json(step.time())},
                      {"ideal_ps", time_json(step.ideal)},
                      {"operations", step.ops},
                      {"ended", step.ended_ops},
                      {"bytes", step.bytes}};
  if (!step.finished) return object;
  object.update(ordered_json{{"compute_ps", step.compute.ps()},
                             {"exposed_ps", step.exposed.ps()},
                             {"bubble_ps", step.bubble.ps()},
                             {"exposed", exposed_json(step.exposed_by, groups)},
                             {"slowest_rank", step.slowest_rank},
                             {"straggler", step.straggler()},
                             {"waited_for", rank_json(step.waited_for)},
                             {"waited_ps", step.waited.ps()},
                             {"path", path_json(step.path)}});
  return object;
}

ordered_json collective_json(const CollectiveMeasure& of) {
  return {{"collective", name_of(of.collective)},
          {"group", of.group},
          {"ranks", of.ranks},
          {"bytes", of.bytes},
          {"count", of.count},
          {"ended", of.finished},
          {"time_ps", spread_json(of.time)},
          {"busbw_bps", {{"p50", of.busbw_p50.bps}, {"p99", of.busbw_p99.bps}}}};
}

/// A field of CSV (RFC 4180).
std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}
std::string field(FabricTime t) { return t == FabricTime::never() ? "" : std::to_string(t.ps()); }

}  // namespace

ordered_json to_json(const JobMeasures& measures) {
  ordered_json collectives = ordered_json::array(), steps = ordered_json::array();
  for (const CollectiveMeasure& of : measures.collectives) {
    collectives.push_back(collective_json(of));
  }
  for (size_t i = 0; i < measures.steps.size(); ++i) {
    steps.push_back(step_json(measures.steps[i], i, measures.groups));
  }
  const auto ratio = measures.jct_ratio();
  return {{"name", measures.name},
          {"ranks", measures.ranks},
          {"warmup", measures.warmup},
          {"finished", measures.finished},
          {"jct_ps", time_json(measures.jct)},
          {"ideal_jct_ps", time_json(measures.ideal_jct)},
          {"jct_ratio", ratio ? ordered_json(*ratio) : ordered_json(nullptr)},
          {"step_ps", spread_json(measures.step_time)},
          {"straggler", measures.straggler},
          {"compute_ps", measures.compute.ps()},
          {"exposed_ps", measures.exposed.ps()},
          {"bubble_ps", measures.bubble.ps()},
          {"exposed", exposed_json(measures.exposed_by, measures.groups)},
          {"path", path_json(measures.path)},
          {"collectives", collectives},
          {"steps", steps}};
}

std::string to_csv(const JobMeasures& measures) {
  std::string text =
      "job,step,finished,begin_ps,end_ps,time_ps,ideal_ps,compute_ps,exposed_ps,bubble_ps,"
      "slowest_rank,straggler,waited_for,waited_ps,bytes";
  for (const std::string& group : measures.groups) {
    text += "," + field(fmt::format("exposed_{}_ps", group));
  }
  text += "\n";
  for (size_t i = 0; i < measures.steps.size(); ++i) {
    const StepMeasure& step = measures.steps[i];
    const auto if_finished = [&](const std::string& value) { return step.finished ? value : ""; };
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", field(measures.name), i,
                        step.finished ? 1 : 0, field(step.begin), field(step.end),
                        field(step.time()), field(step.ideal), if_finished(field(step.compute)),
                        if_finished(field(step.exposed)), if_finished(field(step.bubble)),
                        if_finished(std::to_string(step.slowest_rank)),
                        if_finished(fmt::format("{:.6f}", step.straggler())),
                        step.waited_for == kNoRank ? "" : std::to_string(step.waited_for),
                        if_finished(field(step.waited)), step.bytes);
    for (size_t group = 0; group < measures.groups.size(); ++group) {
      text += "," + (step.finished ? field(step.exposed_by[group].mean) : "");
    }
    text += "\n";
  }
  return text;
}

}  // namespace mrclab::job
