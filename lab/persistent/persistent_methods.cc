#include "lab/persistent/persistent_methods.h"

#include <unistd.h>

#include <chrono>

#include "fabric/history/report_json.h"
#include "lab/persistent/stepper.h"
#include "live/inspect/describe.h"
#include "live/world/process_reports.h"
#include "netio/system/system_error.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/spec/queue_pairs.h"
#include "session/session_export.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::lab {
namespace {

using std::chrono::steady_clock;

const Scenario* scenario_of(const PersistentLab& lab) {
  return lab.scenario ? &*lab.scenario : nullptr;
}

netio::Json status(const PersistentLab& lab, steady_clock::time_point since) {
  const auto up_for = std::chrono::duration_cast<std::chrono::seconds>(steady_clock::now() - since);
  netio::Json status{{"lab", lab.live.fabric().lab()},
                     {"fabric", lab.topology.name},
                     {"pid", ::getpid()},
                     {"up_seconds", up_for.count()},
                     {"fabric_ns", lab.live.now().ns()},
                     {"outside_faults", lab.live.outside_faults().newest_lines()}};
  if (lab.scenario) {
    status["scenario"] = lab.scenario->name;
    if (lab.scenario->end != FabricTime::never()) status["end_ps"] = lab.scenario->end.ps();
  }
  netio::Json clock = lab.clock.state();
  clock.erase("outcome");
  status.update(clock);
  return status;
}

StepOrder step_order(const PersistentLab& lab, const netio::Json& params) {
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

/// Runs the order of a client; bad input is refused and is no error of the lab.
template <class Act>
netio::Json refuse_bad_input(Act act) {
  try {
    return act();
  } catch (const InputError& error) {
    throw netio::RpcError(netio::kRpcRefused, error.what());
  }
}

netio::Json give_order(const PersistentLab& lab, const netio::Json& params) {
  const auto word = params.at("order").get<std::string>();
  return refuse_bad_input([&] {
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
    return lab.clock.state();
  });
}

/// The clock's state. The outcome of a step to the next fault also has the faults that it reached,
/// in the words of the method `fault`.
netio::Json clock_state(const PersistentLab& lab, const netio::Json& params) {
  const bool asked = params.is_object() && params.contains("ticket");
  netio::Json state =
      asked ? lab.clock.state(params.at("ticket").get<uint64_t>()) : lab.clock.state();
  if (!state.contains("outcome") || !state["outcome"].contains("fault_numbers")) return state;
  netio::Json& faults = state["outcome"]["faults"] = netio::Json::array();
  for (const netio::Json& number : state["outcome"]["fault_numbers"]) {
    // The order may be an old one, and its faults may have left the book since.
    netio::Json fault = lab.faults.find(number.get<uint32_t>());
    if (!fault.is_null()) faults.push_back(std::move(fault));
  }
  return state;
}

/// What the daemons have recorded until the scenario's end, so far.
netio::Json history(const PersistentLab& lab) {
  if (!lab.scenario) throw netio::RpcError(netio::kRpcRefused, "this lab runs no scenario");
  WorldOutcome outcome;
  for (uint32_t i = 0; i < lab.live.gate().process_count; ++i) {
    if (!netio::in_gate(lab.live.gate().state(i))) continue;
    try {
      const netio::Json report = lab.live.fleet().ask(i, "report");
      add_process_report(outcome, *lab.scenario,
                         read_process_report(report, lab.topology, lab.live.plan(), i));
    } catch (const ReportError& error) {
      add_disturbance(outcome, error.what());
    } catch (const netio::SystemError& error) {
      // It ends, or stands, and supervision has not noticed yet; what the others recorded is reported all the same.
      add_disturbance(outcome,
                      lab.live.plan().processes[i].name + " gives no answer: " + error.what());
    }
  }
  for (std::string& told : lab.live.outside_faults().newest_lines()) {
    add_disturbance(outcome, std::move(told));
  }
  netio::Json streams = netio::Json::object();
  for (const HistoryStream& stream : outcome.history) streams[stream.name] = stream.count;
  return {{"fabric_ps", lab.live.now().ps()},
          {"complete", lab.live.now() >= lab.scenario->end},
          {"not_faithful", outcome.timing.reasons},
          {"records", std::move(streams)},
          {"history_sha256", history_sha256(std::move(outcome.history))}};
}

/// Pauses as nodes of ours report them, by name, each at the instant that it has committed.
netio::Json pauses(const PersistentLab& lab) {
  netio::Json nodes = netio::Json::object();
  for (uint32_t i = 0; i < lab.live.gate().process_count; ++i) {
    if (!netio::in_gate(lab.live.gate().state(i))) continue;
    nodes.update(lab.live.fleet().ask(i, "pauses"));
  }
  return {{"fabric_ps", lab.live.now().ps()}, {"nodes", std::move(nodes)}};
}

netio::Json order_fault(const PersistentLab& lab, const netio::Json& params, spdlog::logger& log) {
  FaultOrder order;
  params.at("kind").get_to(order.kind);
  params.at("body").get_to(order.body);
  if (params.contains("at")) order.at = params.at("at").get<std::string>();
  return refuse_bad_input([&] {
    netio::Json fault = lab.faults.describe(lab.faults.break_it(order));
    log.info("fault {} by hand: {}", fault.at("number").get<uint32_t>(),
             fault.at("fault").get<std::string>());
    return fault;
  });
}

netio::Json heal(const PersistentLab& lab, const netio::Json& params, spdlog::logger& log) {
  return refuse_bad_input([&] {
    netio::Json answer{{"healed", netio::Json::array()}};
    for (const uint32_t number : lab.faults.heal(params.at("what").get<std::string>())) {
      answer["healed"].push_back(lab.faults.describe(number));
      log.info("fault {} healed by hand", number);
    }
    answer["outside"] = lab.faults.outside();
    return answer;
  });
}

/// What programs in hosts need besides their libraries; made when the first of them asks.
netio::Json rdma(const PersistentLab& lab) {
  if (lab.topology.host_count() > verbs::kMaxManagedHosts) {
    throw netio::RpcError(netio::kRpcRefused, "this lab has more hosts than management addresses");
  }
  lab.live.make_management_network();
  return {{"rc", lab.scenario && lab.scenario->transport.profile == "roce"}};
}

netio::Json session(const PersistentLab& lab) {
  return refuse_bad_input([&] {
    if (!lab.scenario) throw InputError("this lab runs neither a scenario nor a workload");
    return netio::Json{{"changed", lab.faults.changed()},
                       {"yaml", session_yaml(*lab.scenario, lab.faults.all(), lab.live.now(),
                                             lab.live.outside_faults().unmodelled())}};
  });
}

}  // namespace

void add_persistent_methods(netio::RpcServer& server, PersistentLab& lab, spdlog::logger& log) {
  const auto since = steady_clock::now();
  server.method("status", [&lab, since](const netio::Json&) { return status(lab, since); });
  server.method("inspect", [&lab](const netio::Json&) {
    return describe_fabric(lab.topology, lab.live.fabric().lab(),
                           [&lab](LinkId link) { return lab.live.fabric().link_is_up(link); });
  });
  server.method("clock", [&lab, &log](const netio::Json& params) {
    log.debug("at {}: clock {}", to_string(lab.live.now()), params.dump());
    return give_order(lab, params);
  });
  server.method("clock_state",
                [&lab](const netio::Json& params) { return clock_state(lab, params); });
  server.method("fault",
                [&lab, &log](const netio::Json& params) { return order_fault(lab, params, log); });
  server.method("heal", [&lab, &log](const netio::Json& params) { return heal(lab, params, log); });
  server.method("faults", [&lab](const netio::Json&) {
    netio::Json answer = lab.faults.list();
    answer["outside_faults"] = lab.live.outside_faults().newest_lines();
    answer["outside_faults"] = lab.live.outside_faults().newest_lines();
    answer["fabric_ps"] = lab.live.now().ps();
    return answer;
  });
  server.method("session", [&lab](const netio::Json&) { return session(lab); });
  server.method("history", [&lab](const netio::Json&) { return history(lab); });
  server.method("pauses", [&lab](const netio::Json&) { return pauses(lab); });
  server.method("rdma", [&lab](const netio::Json&) { return rdma(lab); });
  server.method("down", [&lab](const netio::Json&) {
    lab.end = true;
    return netio::Json{{"down", true}};
  });
}

}  // namespace mrclab::lab
