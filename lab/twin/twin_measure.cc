#include "lab/twin/twin_measure.h"

#include <nlohmann/json.hpp>

#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const WorkSteps& work) {
  Json ends = Json::array();
  for (const FabricTime end : work.ends) ends.push_back(end.ps());
  Json begins = Json::array();
  for (const FabricTime begin : work.begins) begins.push_back(begin.ps());
  return {{"name", work.name},
          {"unit", work.unit},
          {"begin", work.begin.ps()},
          {"ends", ends},
          {"begins", begins}};
}

WorkSteps work_from(const Json& in) {
  WorkSteps work{in.at("name").get<std::string>(),
                 in.at("unit").get<std::string>(),
                 FabricTime::from_ps(in.at("begin").get<int64_t>()),
                 {}};
  for (const Json& end : in.at("ends"))
    work.ends.push_back(FabricTime::from_ps(end.get<int64_t>()));
  for (const Json& begin : in.at("begins"))
    work.begins.push_back(FabricTime::from_ps(begin.get<int64_t>()));
  if (!work.begins.empty() && work.begins.size() != work.ends.size()) {
    throw InputError("the answer of a twin's process: as many begins as ends expected");
  }
  return work;
}

/// A list of picoseconds: begin, end, begin, end.
Json json_of(const JobSpans& job) {
  Json times = Json::array();
  for (const job::Interval& op : job.ops) {
    times.push_back(op.begin.ps());
    times.push_back(op.end.ps());
  }
  return {{"work", job.work}, {"ops", std::move(times)}};
}

JobSpans spans_from(const Json& in) {
  JobSpans job{in.at("work").get<size_t>(), {}};
  const Json& times = in.at("ops");
  for (size_t i = 0; i + 1 < times.size(); i += 2) {
    job.ops.push_back({FabricTime::from_ps(times[i].get<int64_t>()),
                       FabricTime::from_ps(times[i + 1].get<int64_t>())});
  }
  return job;
}

Json json_of(const FaultToll& toll) {
  Json most = Json::array(), by_step = Json::array();
  for (const QueuePairLosses& each : toll.most) {
    most.push_back({each.from, each.to, each.qp.value, each.packets, each.answers});
  }
  for (const StepLosses& each : toll.by_step) {
    by_step.push_back({each.work, each.step, each.packets, each.answers, each.queue_pairs});
  }
  return {{"packets", toll.packets},
          {"answers", toll.answers},
          {"queue_pairs", toll.queue_pairs},
          {"most", most},
          {"by_step", by_step}};
}

FaultToll toll_from(const Json& in) {
  FaultToll toll{in.at("packets").get<uint64_t>(),
                 in.at("answers").get<uint64_t>(),
                 in.at("queue_pairs").get<uint64_t>(),
                 {},
                 {}};
  for (const Json& each : in.at("most")) {
    toll.most.push_back({each.at(0).get<uint32_t>(), each.at(1).get<uint32_t>(),
                         Qpn{each.at(2).get<uint32_t>()}, each.at(3).get<uint64_t>(),
                         each.at(4).get<uint64_t>()});
  }
  for (const Json& each : in.at("by_step")) {
    toll.by_step.push_back({each.at(0).get<size_t>(), each.at(1).get<size_t>(),
                            each.at(2).get<uint64_t>(), each.at(3).get<uint64_t>(),
                            each.at(4).get<uint64_t>()});
  }
  return toll;
}

TwinMeasure measure_from(const Json& in) {
  TwinMeasure measure;
  measure.set = in.at("set").get<FaultSet>();
  if (!in.at("done").is_null()) {
    measure.done = FabricTime::from_ps(in.at("done").get<int64_t>());
  }
  measure.delivered = Bytes{in.at("delivered").get<uint64_t>()};
  measure.qps_failed = in.at("qps_failed").get<uint32_t>();
  measure.died = in.at("died").get<std::string>();
  for (const Json& each : in.at("works")) measure.works.push_back(work_from(each));
  for (const Json& each : in.at("jobs")) measure.jobs.push_back(spans_from(each));
  for (const Json& each : in.at("prefixes")) {
    measure.prefixes.push_back(
        {FabricTime::from_ps(each.at(0).get<int64_t>()), each.at(1).get<std::string>()});
  }
  measure.history_sha256 = in.at("history_sha256").get<std::string>();
  for (const Json& each : in.at("tolls")) measure.tolls.push_back(toll_from(each));
  measure.folder = in.at("folder").get<std::string>();
  return measure;
}

}  // namespace

std::string to_text(const TwinMeasure& measure) {
  Json works = Json::array(), jobs = Json::array(), prefixes = Json::array();
  Json tolls = Json::array();
  for (const WorkSteps& each : measure.works) works.push_back(json_of(each));
  for (const JobSpans& each : measure.jobs) jobs.push_back(json_of(each));
  for (const PrefixDigest& each : measure.prefixes) {
    prefixes.push_back({each.until.ps(), each.sha256});
  }
  for (const FaultToll& each : measure.tolls) tolls.push_back(json_of(each));
  const Json out{{"set", measure.set},
                 {"done", measure.done ? Json(measure.done->ps()) : Json()},
                 {"delivered", measure.delivered.value},
                 {"qps_failed", measure.qps_failed},
                 {"died", measure.died},
                 {"works", works},
                 {"jobs", jobs},
                 {"prefixes", prefixes},
                 {"history_sha256", measure.history_sha256},
                 {"tolls", tolls},
                 {"folder", measure.folder}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

TwinMeasure measure_of_text(const std::string& text) {
  try {
    return measure_from(Json::parse(text));
  } catch (const Json::exception& error) {
    throw InputError("the answer of a twin's process: " + json_problem(error) +
                     ": expected what mrclab writes");
  }
}

}  // namespace mrclab::lab
