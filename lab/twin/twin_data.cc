#include "lab/twin/twin_data.h"

#include <cstdlib>

#include "analysis/measure/qp_name.h"
#include "lab/twin/twin_set.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(std::optional<int64_t> amount) { return amount ? Json(*amount) : Json(); }

/// Costs of bytes are below zero: what is delivered is not.
Json plain(std::optional<int64_t> cost) { return cost ? Json(std::abs(*cost)) : Json(); }

std::string host_name(uint32_t host) { return "h" + std::to_string(host); }

Json most_lost(const FaultToll& toll) {
  Json list = Json::array();
  for (const QueuePairLosses& each : toll.most) {
    list.push_back({{"from", host_name(each.from)},
                    {"to", host_name(each.to)},
                    {"qp", analysis::qp_name(each.qp)},
                    {"lost", each.packets},
                    {"lost_answers", each.answers}});
  }
  return list;
}

Json hits_of(const TwinReport& report, const TwinFault& fault) {
  Json list = Json::array();
  for (const StepHit& hit : fault.hits) {
    const WorkSteps& work = report.runs.front().works[hit.work];
    list.push_back({{"work", work.name},
                    {"unit", work.unit},
                    {"step", hit.step + 1},
                    {"without_ps", hit.without.ps()},
                    {"cost_ps", hit.cost.ps()},
                    {"lost", hit.packets},
                    {"lost_answers", hit.answers},
                    {"queue_pairs", hit.queue_pairs}});
  }
  return list;
}

Json json_of(const TwinReport& report, const Hidden& hidden) {
  return {{"work", report.runs.front().works[hidden.work].name},
          {"rank", hidden.rank},
          {"held_back", hidden.held},
          {"by_ps", hidden.by.ps()},
          {"under", hidden.under},
          {"until_ps", hidden.until.ps()}};
}

Json json_of(const TwinReport& report, size_t number) {
  const TwinFault& fault = report.faults[number];
  return {{"number", number + 1},
          {"fault", fault.description},
          {"kind", fault.kind},
          {"marginal", or_null(fault.cost.marginal)},
          {"alone", or_null(fault.cost.alone)},
          {"interaction", or_null(fault.cost.interaction)},
          {"share", or_null(fault.cost.share)},
          {"lost", fault.toll.packets},
          {"lost_answers", fault.toll.answers},
          {"queue_pairs", fault.toll.queue_pairs},
          {"most_lost", most_lost(fault.toll)},
          {"steps_hit", fault.steps_hit},
          {"hits", hits_of(report, fault)},
          {"hidden", fault.hidden ? json_of(report, *fault.hidden) : Json()}};
}

Json json_of(const TwinMeasure& run, size_t faults) {
  Json numbers = Json::array(), works = Json::array();
  for (size_t i = 0; i < faults; ++i) {
    if ((run.set & fault_bit(i)) != 0) numbers.push_back(i + 1);
  }
  for (const WorkSteps& work : run.works) {
    Json ends = Json::array();
    for (const FabricTime end : work.ends) ends.push_back(end.ps());
    works.push_back({{"work", work.name},
                     {"unit", work.unit},
                     {"begin_ps", work.begin.ps()},
                     {"ends_ps", std::move(ends)}});
  }
  return {{"run", twin_name(run.set, faults)},
          {"faults", std::move(numbers)},
          {"done_ps", run.done ? Json(run.done->ps()) : Json()},
          {"delivered_bytes", run.delivered.value},
          {"qps_failed", run.qps_failed},
          {"died", run.died.empty() ? Json() : Json(run.died)},
          {"history_sha256", run.history_sha256},
          {"folder", run.folder.empty() ? Json() : Json(run.folder)},
          {"works", std::move(works)}};
}

Json json_of(const TwinReport& report) {
  Json faults = Json::array(), runs = Json::array();
  for (size_t i = 0; i < report.faults.size(); ++i) faults.push_back(json_of(report, i));
  for (const TwinMeasure& run : report.runs) runs.push_back(json_of(run, report.faults.size()));
  return {{"scenario", report.scenario},
          {"transport", report.axis == kTransportAxis ? Json(report.value) : Json()},
          {"over", report.axis.empty() ? Json() : Json{{report.axis, report.value}}},
          {"seed", report.seed},
          {"end_ps", report.end.ps()},
          {"unit", report.unit == TwinUnit::kTime ? "ps" : "bytes"},
          {"conclusive", report.inconclusive.empty()},
          {"why_not", report.inconclusive.empty() ? Json() : Json(report.inconclusive)},
          {"with", plain(report.total.with)},
          {"without", plain(report.total.without)},
          {"total", or_null(report.total.total)},
          {"interaction", or_null(report.total.interaction)},
          {"faults", std::move(faults)},
          {"runs", std::move(runs)}};
}

}  // namespace

Json to_json(const std::vector<TwinReport>& reports) {
  Json list = Json::array();
  for (const TwinReport& report : reports) list.push_back(json_of(report));
  return list;
}

}  // namespace mrclab::lab
