#include "lab/resident_methods.h"

#include <unistd.h>

#include <chrono>

#include "lab/describe.h"
#include "lab/queue_pairs.h"
#include "lab/world_outcome.h"

namespace mrclab::lab {
namespace {

using netio::Json;
using std::chrono::steady_clock;

constexpr uint64_t kMaxSteps = 10'000;

const Scenario* scenario_of(const ResidentLab& lab) {
  return lab.scenario ? &*lab.scenario : nullptr;
}

Json status(const ResidentLab& lab, steady_clock::time_point since) {
  const auto up_for = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - since);
  Json outside = Json::array();
  for (const OutsideFault& fault : lab.live.outside_faults()) outside.push_back(fault.what);
  Json status{{"lab", lab.live.fabric().lab()},
              {"fabric", lab.topology.name},
              {"pid", ::getpid()},
              {"up_seconds", up_for.count()},
              {"fabric_ns", lab.live.now().ns()},
              {"outside_faults", std::move(outside)}};
  if (lab.scenario) {
    status["scenario"] = lab.scenario->name;
    status["end_ps"] = lab.scenario->end.ps();
  }
  Json clock = lab.clock.state();
  clock.erase("outcome");
  status.update(clock);
  return status;
}

StepOrder step_order(const ResidentLab& lab, const Json& params) {
  StepOrder order;
  order.count = params.value("count", uint64_t{1});
  if (order.count == 0 || order.count > kMaxSteps) {
    throw InputError("found " + std::to_string(order.count) + " steps: expected 1 to " +
                     std::to_string(kMaxSteps));
  }
  order.fault = params.value("fault", false);
  order.filter = step_filter(lab.topology, scenario_of(lab), params.value("node", ""),
                             params.value("port", ""), params.value("qp", ""));
  return order;
}

Json give_order(const ResidentLab& lab, const Json& params) {
  const auto word = params.at("order").get<std::string>();
  try {
    if (word == "pause") {
      lab.clock.pause();
    } else if (word == "resume") {
      lab.clock.resume();
    } else if (word == "until") {
      lab.clock.until(parse_instant(params.at("at").get<std::string>(), lab.topology,
                                    lab.clock.now(), scenario_of(lab)));
    } else if (word == "step") {
      lab.clock.step(step_order(lab, params));
    } else {
      throw InputError("unknown order " + in_quotes(word));
    }
  } catch (const InputError& error) {
    throw netio::RpcError(netio::kRpcRefused, error.what());
  }
  return lab.clock.state();
}

/// What the daemons have recorded until the scenario's end, so far.
Json history(const ResidentLab& lab) {
  if (!lab.scenario) throw netio::RpcError(netio::kRpcRefused, "this lab runs no scenario");
  WorldOutcome outcome;
  for (uint32_t i = 0; i < lab.live.gate().process_count; ++i) {
    if (!netio::in_gate(lab.live.gate().state(i))) continue;
    add_process_report(outcome, *lab.scenario,
                       netio::RpcClient(lab.live.control_socket(i))
                           .call("report", nullptr, std::chrono::seconds(2)));
  }
  for (const OutsideFault& fault : lab.live.outside_faults()) {
    outcome.timing.reasons.push_back(fault.what);
  }
  Json streams = Json::object();
  for (const HistoryStream& stream : outcome.history) streams[stream.name] = stream.count;
  return {{"fabric_ps", lab.live.now().ps()},
          {"complete", lab.live.now() >= lab.scenario->end},
          {"not_faithful", outcome.timing.reasons},
          {"records", std::move(streams)},
          {"history_sha256", history_sha256(std::move(outcome.history))}};
}

}  // namespace

void add_resident_methods(netio::RpcServer& server, ResidentLab& lab) {
  const auto since = steady_clock::now();
  server.method("status", [&lab, since](const Json&) { return status(lab, since); });
  server.method("inspect", [&lab](const Json&) {
    return describe_fabric(lab.topology, lab.live.fabric().lab(),
                           [&lab](LinkId link) { return lab.live.fabric().link_is_up(link); });
  });
  server.method("clock", [&lab](const Json& params) { return give_order(lab, params); });
  server.method("clock_state", [&lab](const Json&) { return lab.clock.state(); });
  server.method("history", [&lab](const Json&) { return history(lab); });
  server.method("down", [&lab](const Json&) {
    lab.end = true;
    return Json{{"down", true}};
  });
}

}  // namespace mrclab::lab
