#include "analysis/verdict/job_text.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "analysis/measure/job_steps.h"
#include "analysis/measure/message_times.h"
#include "analysis/serve/serve_text.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

Json ns_or_null(FabricTime t, FabricTime none) { return t == none ? Json(nullptr) : Json(t.ns()); }

/// By how many percent the slowest rank computed longer than the median one; null where none computes.
Json straggler_of(const JobStep& step) {
  if (step.median_compute == FabricTime::zero()) return nullptr;
  const double share = step.slowest_compute.us() / step.median_compute.us() - 1;
  return std::round(share * 1e5) / 1e3;
}

Json step_json(const JobStep& step, size_t number) {
  Json by = Json::object();
  for (const GroupTime& one : step.exposed_by) by[one.group] = one.time.ns();
  return {{"n", number},
          {"begin_ns", step.begin.ns()},
          {"end_ns", ns_or_null(step.end, FabricTime::never())},
          {"compute_ns", step.compute.ns()},
          {"exposed_ns", step.exposed.ns()},
          {"bubble_ns", step.bubble.ns()},
          {"exposed_by_ns", std::move(by)},
          {"ideal_ns", ns_or_null(step.ideal, FabricTime::zero())},
          {"slowest_rank", step.slowest},
          {"straggler_percent", straggler_of(step)},
          {"waited_for", step.waited_for ? Json(*step.waited_for) : Json(nullptr)},
          {"waited_ns", step.waited.ns()},
          {"bytes", step.bytes},
          {"lost", step.lost ? Json(*step.lost) : Json(nullptr)},
          {"faults", step.faults}};
}

Json times_json(const JobTimes& times) {
  if (times.steps == 0) return nullptr;
  return {{"first", times.first},
          {"steps", times.steps},
          {"mean_ns", times.mean.ns()},
          {"p50_ns", times.p50.ns()},
          {"p99_ns", times.p99.ns()},
          {"compute_ns", times.compute.ns()},
          {"exposed_ns", times.exposed.ns()},
          {"bubble_ns", times.bubble.ns()},
          {"ideal_ns", ns_or_null(times.ideal, FabricTime::zero())}};
}

Json death_json(const JobResult& job, const JobDeath& death) {
  return {{"rank", death.rank},
          {"host", death.rank < job.ranks.size() ? job.ranks[death.rank] : ""},
          {"reason", death.reason},
          {"at_ns", death.at.ns()}};
}

Json turn_json(const JobResult& job, const JobTurn& turn) {
  const auto time = [](FabricTime t) { return ns_or_null(t, FabricTime::never()); };
  return {{"text", turn_text(job, turn)},
          {"death", death_json(job, turn.death)},
          {"reported_ns", time(turn.reported)},
          {"ended_ns", time(turn.all_ended)},
          {"lost_hosts", turn.lost},
          {"begun_ns", time(turn.begun)},
          {"from_step", turn.from_step},
          {"ranks", turn.ranks},
          {"gave_up", turn.gave_up},
          {"steps_repeated", turn.steps_repeated},
          {"time_lost_ns", turn.time_lost.ns()},
          {"rank_time_lost_ns", turn.rank_time_lost.ns()}};
}

}  // namespace

Json to_json(const JobResult& job) {
  Json steps = Json::array(), path = Json::array(), turns = Json::array();
  for (const JobTurn& turn : job.turns) turns.push_back(turn_json(job, turn));
  const size_t written = std::min(job.steps.size(), kMaxStepsWritten);
  for (size_t i = 0; i < written; ++i) steps.push_back(step_json(job.steps[i], i));
  for (const JobPathPart& part : job.path) {
    path.push_back({{"what", part.what}, {"ns", part.time.ns()}});
  }
  return {{"name", job.name},
          {"text", headline(job)},
          {"ranks", job.ranks},
          {"groups", job.groups},
          {"planned", job.planned},
          {"warmup", job.warmup},
          {"done", job.steps_done()},
          {"begin_ns", job.begin.ns()},
          {"jct_ns", job.done ? Json((*job.done - job.begin).ns()) : Json(nullptr)},
          {"ideal_jct_ns", ns_or_null(job.ideal, FabricTime::zero())},
          {"step_time", times_json(times_of(job))},
          {"path", std::move(path)},
          {"died", job.died ? death_json(job, *job.died) : Json(nullptr)},
          {"turns", std::move(turns)},
          {"notes", job.notes},
          {"missing", job.missing},
          {"steps", std::move(steps)},
          {"steps_left_out", job.steps.size() - written},
          {"serve", job.serve ? to_json(*job.serve) : Json(nullptr)}};
}

JobTimes times_of(const JobResult& job) {
  JobTimes result;
  std::vector<FabricTime> times = step_times(job, job.warmup);
  result.first = times.empty() ? 0 : job.warmup;
  if (times.empty()) times = step_times(job, 0);
  if (times.empty()) return result;
  std::vector<FabricTime> compute, exposed, bubble, ideal;
  for (const JobStep& step : std::span(job.steps).subspan(result.first)) {
    if (!step.ended()) continue;
    compute.push_back(step.compute);
    exposed.push_back(step.exposed);
    bubble.push_back(step.bubble);
    if (step.ideal > FabricTime::zero()) ideal.push_back(step.ideal);
  }
  result.steps = times.size();
  result.mean = mean_of(times);
  result.compute = mean_of(compute);
  result.exposed = mean_of(exposed);
  result.bubble = mean_of(bubble);
  if (ideal.size() == times.size()) result.ideal = mean_of(ideal);
  result.p50 = time_at_rank(times, 50);
  result.p99 = time_at_rank(std::move(times), 99);
  return result;
}

std::string turn_text(const JobResult& job, const JobTurn& turn) {
  std::string text = job.rank_name(turn.death.rank) + " ended at " + to_string(turn.death.at) +
                     ": " + turn.death.reason;
  if (!turn.lost.empty()) {
    text += "; lost";
    for (const std::string& host : turn.lost) text += " " + host;
  }
  if (!turn.went_on()) return text + (turn.gave_up.empty() ? "" : "; " + turn.gave_up);
  return text + "; " + counted_noun(turn.ranks, "rank") + " went on at " + to_string(turn.begun) +
         " from step " + std::to_string(turn.from_step) + ": " +
         counted_noun(turn.steps_repeated, "step") + " repeated, " + to_string(turn.time_lost) +
         " lost, of all ranks " + to_string(turn.rank_time_lost);
}

std::string headline(const JobResult& job) {
  if (job.serve) return serve_headline(job);
  std::string text = job.name + ": " + counted_noun(job.ranks.size(), "rank") + ", " +
                     std::to_string(job.steps_done()) + " of " + counted_noun(job.planned, "step");
  if (job.died) {
    return text + ", died at " + to_string(job.died->at) + ": " + job.rank_name(job.died->rank) +
           ", " + job.died->reason;
  }
  if (!job.missing.empty()) return text + "; " + job.missing;
  return text + (job.done ? ", done at " + to_string(*job.done) : ", not done");
}

}  // namespace mrclab::analysis
