// clock: the time of a lab that stays.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/root_rights.h"
#include "console/terminal.h"
#include "fabric/text/yaml.h"
#include "lab/persistent/clock_text.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/labd_client.h"
#include "lab/persistent/stepper.h"
#include "lab/verbs/cli.h"
#include "netio/rpc/heartbeat.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kAskEvery{10};
constexpr size_t kShownRecords = 24;

struct ClockOptions {
  std::optional<std::string> lab;
  bool as_json = false;
  std::string at;  ///< until; of resume: empty for no end
  uint64_t count = 1;
  std::string node, port, qp;
  bool fault = false;
};

int print(const json& state, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", printed(state, "clock"));
  } else {
    fmt::print("{}", outcome_text(state, kShownRecords));
  }
  if (state.at("outcome").contains("problem")) return 3;
  const auto result = state.at("outcome").at("result").get<std::string>();
  return result == "standing" || result == "running" || result == "found" ? 0 : 3;
}

/// Until the order is done. Ctrl-C stops the lab where it is, which the state then shows.
json wait_for(netio::RpcClient& labd, uint64_t ticket, const InterruptGuard& guard) {
  ProgressLine line;
  bool interrupted = false;
  json state;
  netio::keep_looking([&]() -> netio::Heartbeat::Next {
    state = labd.call("clock_state", {{"ticket", ticket}});
    if (state.at("ticket") != ticket) throw std::runtime_error("the lab was given other orders");
    if (state.contains("outcome")) {
      if (interrupted) state["outcome"]["problem"] = "interrupted";
      return std::nullopt;
    }
    if (guard.interrupted() && !interrupted) {
      ticket = labd.call("clock", {{"order", "pause"}}).at("ticket").get<uint64_t>();
      interrupted = true;
    }
    line.show(clock_line(state));
    return kAskEvery;  // the lab moves on meanwhile
  });
  return state;
}

int give_order(const ClockOptions& options, const json& order) {
  require_root("clock");
  netio::RpcClient labd = connect_to_labd(choose_lab(options.lab));
  const InterruptGuard guard;
  try {
    const json accepted = labd.call("clock", order);
    return print(wait_for(labd, accepted.at("ticket").get<uint64_t>(), guard), options.as_json);
  } catch (const netio::RpcError& error) {
    throw InputError(error.what());
  }
}

int status_command(const ClockOptions& options) {
  require_root("clock");
  const LabRecord record = choose_lab(options.lab);
  const json status = connect_to_labd(record).call("status");
  if (options.as_json) {
    fmt::print("{}\n", printed(status, "clock"));
    return 0;
  }
  fmt::print("lab {}: {}\n", record.lab, clock_line(status));
  if (status.contains("scenario")) {
    const bool ends = status.contains("end_ps");
    const auto end = FabricTime::from_ps(status.value("end_ps", int64_t{0}));
    fmt::print("scenario {}, {}\n", status.at("scenario").get<std::string>(),
               ends ? "end " + in_microseconds(end) : "without end");
  }
  for (const json& fault : status.at("outside_faults")) {
    fmt::print("outside fault: {}\n", fault.get<std::string>());
  }
  return 0;
}

json step_order(const ClockOptions& options) {
  const int filters = int{!options.node.empty()} + int{!options.port.empty()} +
                      int{!options.qp.empty()} + int{options.fault};
  if (filters > 1) throw InputError("a step goes to one of --node, --port, --qp and --fault");
  return {{"order", "step"},      {"count", options.count}, {"node", options.node},
          {"port", options.port}, {"qp", options.qp},       {"fault", options.fault}};
}

using Run = std::function<int(const ClockOptions&)>;

CLI::App* add(CLI::App& clock, const char* name, const char* about,
              const std::shared_ptr<ClockOptions>& options, CliResult& result, const Run& run) {
  CLI::App* sub = clock.add_subcommand(name, about);
  sub->add_option("--lab", options->lab, "which lab (default: the only one)");
  sub->add_flag("--json", options->as_json, "as JSON");
  sub->callback([options, &result, run] { result.code = run(*options); });
  return sub;
}

}  // namespace

void add_clock_verb(CLI::App& app, CliResult& result) {
  CLI::App* clock = add_verb(app, "clock");
  clock->require_subcommand(1);
  clock->footer("Example: sudo mrclab clock step --node h3");
  const auto options = std::make_shared<ClockOptions>();  // shared with callbacks that outlive this
  add(*clock, "status", "Where fabric time is", options, result, status_command)
      ->footer("Example: sudo mrclab clock status");
  add(*clock, "pause", "Stop: every process stands at one instant", options, result,
      [](const ClockOptions& given) {
        return give_order(given, {{"order", "pause"}});
      })
      ->footer("Example: sudo mrclab clock pause");

  CLI::App* resume = add(*clock, "resume", "Go on", options, result, [](const ClockOptions& given) {
    if (given.at.empty()) return give_order(given, {{"order", "resume"}});
    return give_order(given, {{"order", "until"}, {"at", given.at}});
  });
  resume->add_option("--until", options->at, "stop there again, as 'clock until'");
  resume->footer("Example: sudo mrclab clock resume --until +5rtt");

  CLI::App* until = add(*clock, "until", "Run to an instant and stand there", options, result,
                        [](const ClockOptions& given) {
                          return give_order(given, {{"order", "until"}, {"at", given.at}});
                        });
  until->add_option("TIME", options->at, "300us, 40rtt, end (the scenario's), or +10us from now")
      ->required();
  until->footer("Example: sudo mrclab clock until 300us");

  CLI::App* step =
      add(*clock, "step", "Go to the next instant at which something happens", options, result,
          [](const ClockOptions& given) { return give_order(given, step_order(given)); });
  step->add_option("N", options->count, "so many of these instants")
      ->check(CLI::Range(uint64_t{1}, kMaxSteps))
      ->capture_default_str();
  step->add_option("--node", options->node, "at this node: h3, p0.t0-1");
  step->add_option("--port", options->port, "at this port: p0.t0-0:d1");
  step->add_option("--qp", options->qp, "of this queue pair (inspect --qps): h3:0x1a2b3c");
  step->add_flag("--fault", options->fault, "of the scenario's faults");
  step->footer(
      "Queue pairs are listed by inspect --qps; this one is of optic-glitch.\n"
      "Example: sudo mrclab clock step --qp h0:0xc73001");
}

}  // namespace mrclab::lab
