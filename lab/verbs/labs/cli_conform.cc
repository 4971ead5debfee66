#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/progress.h"
#include "console/stopwatch.h"
#include "fabric/topology/fabric_file.h"
#include "lab/verbs/cli.h"
#include "live/conform/conformance.h"
#include "netio/kernel/bpf_program.h"
#include "netio/kernel/open_vswitch.h"
#include "scenario/spec/shipped_files.h"
#include "switchd/bpf/usid_switch_object.h"

namespace mrclab::lab {
namespace {

struct ConformOptions {
  std::string fabric = "octet";
  std::vector<std::string> forwarders;
  bool as_json = false;
};

/// Why this machine has no such switches, and what to do about it; empty: it has.
std::optional<std::string> why_without(Forwarding by) {
  if (by == Forwarding::kBpf) return netio::why_no_bpf(switchd::usid_switch_object());
  if (by != Forwarding::kOvs || netio::missing_ovs_programs().empty()) return std::nullopt;
  return "apt-get install openvswitch-switch";
}

/// Those that are named, or all that this machine has.
std::vector<Forwarding> chosen(const std::vector<std::string>& words) {
  std::vector<Forwarding> forwarders;
  for (const Forwarding by : kForwardings) {
    const bool named = std::find(words.begin(), words.end(), name_of(by)) != words.end();
    if (words.empty() ? !why_without(by) : named) forwarders.push_back(by);
  }
  return forwarders;
}

int conform(const ConformOptions& options) {
  const FabricShape shape = parse_fabric(read_yaml_file(find_fabric(options.fabric)));
  ConformanceOptions check;
  check.forwarders = chosen(options.forwarders);
  const InterruptGuard guard;
  Progress progress("conform");
  const auto start = std::chrono::steady_clock::now();
  check.waiting = [&](Forwarding by) {
    if (guard.interrupted()) throw Interrupted("interrupted");
    if (!progress.due()) return;
    progress.show({}, fmt::format("{:.0f} s; {}", seconds_since(start), name_of(by)));
  };
  const ConformanceReport report = check_conformance(shape, check);
  progress.clear();
  fmt::print("{}", options.as_json ? printed(to_json(report), "conformance") + "\n"
                                   : conformance_text(report));
  for (const Forwarding by : kForwardings) {
    if (!options.forwarders.empty()) break;
    if (const auto why = why_without(by)) {
      fmt::print(stderr, "without {}: {}\n", name_of(by), *why);
    }
  }
  return report.passed() ? 0 : 1;
}

}  // namespace

void add_conform_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<ConformOptions>();
  CLI::App* verb = add_verb(app, "conform");
  verb->add_option("FABRIC", options->fabric, "fabric file or name")->capture_default_str();
  verb->add_option("--forwarding", options->forwarders, "these alone")
      ->check(CLI::IsMember({"switchd", "kernel", "ovs", "bpf"}))
      ->delimiter(',');
  verb->add_flag("--json", options->as_json, "as JSON");
  verb->footer(
      "Sends one frame over every path and frames that are wrong, and compares what\n"
      "arrives at each port. Exit code 1: something is not as computed or known.\n"
      "Example: sudo mrclab conform octet --forwarding switchd,kernel");
  verb->callback([options, &result] { result.code = conform(*options); });
}

}  // namespace mrclab::lab
