// fault, heal: break a lab that stays by hand, and heal it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "console/root_rights.h"
#include "fabric/text/yaml.h"
#include "faults/fault_order.h"
#include "lab/persistent/fault_text.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/labd_client.h"
#include "lab/verbs/cli.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kAskLabEvery{10};
constexpr std::chrono::seconds kInForcePatience{30};

struct FaultOptions {
  std::optional<std::string> lab;
  std::string kind;
  std::vector<std::string> words;  ///< key=value, or the name of a target
  std::optional<std::string> at;
  std::string export_file;
  bool list = false;
  bool as_json = false;
};

json call(netio::RpcClient& labd, const char* method, const json& params = nullptr) {
  try {
    return labd.call(method, params);
  } catch (const netio::RpcError& error) {
    if (error.code() != netio::kRpcRefused) throw std::runtime_error(error.what());
    throw InputError(error.what());
  }
}

json call(const std::string& verb, const std::optional<std::string>& lab, const char* method,
          const json& params = nullptr) {
  require_root(verb);
  netio::RpcClient labd = connect_to_labd(choose_lab(lab));
  return call(labd, method, params);
}

/// A fault "at once" takes effect at the first instant that no process has reached. Waits for that
/// instant, so that the next command finds the fault in force; not when the lab stands, and at most
/// kInForcePatience by the clock of the machine.
void wait_until_in_force(netio::RpcClient& labd, const json& fault) {
  const auto give_up = std::chrono::steady_clock::now() + kInForcePatience;
  netio::keep_looking([&]() -> netio::Heartbeat::Next {
    if (std::chrono::steady_clock::now() >= give_up) return std::nullopt;
    const json status = call(labd, "status");
    if (status.at("fabric_ps") >= fault.at("at_ps") || status.at("state") == "standing") {
      return std::nullopt;
    }
    return kAskLabEvery;
  });
}

int export_session(const FaultOptions& options) {
  const json session = call("fault", options.lab, "session");
  netio::write_file(options.export_file, session.at("yaml").get<std::string>());
  if (options.as_json) {
    fmt::print("{}\n", printed(json{{"file", options.export_file}}, "export"));
  } else {
    fmt::print("{0}: what happened so far, as a scenario; mrclab run {0} --world sim\n",
               options.export_file);
  }
  return 0;
}

int fault_command(const FaultOptions& options) {
  if (options.list) {
    fmt::print("{}", options.as_json ? printed(fault_kinds_json(), "fault-kinds") + "\n"
                                     : fault_kinds_text());
    return 0;
  }
  if (!options.export_file.empty()) return export_session(options);
  if (options.kind.empty()) {
    throw InputError("name a kind of fault; 'mrclab fault --list' shows them");
  }
  json order{{"kind", options.kind}, {"body", body_of_words(options.kind, options.words)}};
  if (options.at) order["at"] = *options.at;
  require_root("fault");
  netio::RpcClient labd = connect_to_labd(choose_lab(options.lab));
  const json fault = call(labd, "fault", order);
  if (!options.at) wait_until_in_force(labd, fault);
  if (options.as_json) {
    fmt::print("{}\n", printed(fault, "fault"));
    return 0;
  }
  fmt::print("{}", fault_text(fault));
  if (!fault.contains("until_ps")) {
    fmt::print("heal it with:  mrclab heal {}{}\n", fault.at("number").get<uint32_t>(),
               lab_option(choose_lab(options.lab).lab));
  }
  return 0;
}

int heal_command(const std::optional<std::string>& lab, const std::string& what, bool as_json) {
  const json healed = call("heal", lab, "heal", {{"what", what}});
  fmt::print("{}", as_json ? printed(healed, "heal") + "\n" : healed_text(healed));
  return 0;
}

}  // namespace

void add_fault_verbs(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<FaultOptions>();  // shared with callbacks that outlive this
  CLI::App* fault = add_verb(app, "fault");
  fault->add_option("KIND", options->kind, "what happens: see --list");
  fault->add_option("SETTINGS", options->words,
                    "key=value as in a scenario; a word without '=' is the target");
  fault->add_option("--at", options->at, "300us, or +50us, +2rtt from now (default: at once)");
  fault->add_option("--lab", options->lab, "which lab (default: the only one)");
  fault->add_flag("--list", options->list, "the kinds of faults, with an example each");
  fault->add_option("--export", options->export_file,
                    "write a scenario that repeats what the lab went through");
  fault->add_flag("--json", options->as_json, "as JSON");
  fault->footer("Example: sudo mrclab fault link_down link=p0.t0-0:u0 for=50us");
  fault->callback([options, &result] { result.code = fault_command(*options); });

  auto what = std::make_shared<std::string>();
  CLI::App* heal = add_verb(app, "heal");
  heal->add_option("WHAT", *what, "number (inspect --faults), kind, pattern of targets, or all");
  heal->add_option("--lab", options->lab, "which lab (default: the only one)");
  heal->add_flag("--json", options->as_json, "as JSON");
  heal->footer(
      "Without WHAT: all that is in force; with all: what is to come as well. What others did\n"
      "with their own tools is theirs to undo.\nExample: sudo mrclab heal 'p0.t0-*'");
  heal->callback([options, what, &result] {
    result.code = heal_command(options->lab, *what, options->as_json);
  });
}

}  // namespace mrclab::lab
