// `perf permutation` and `perf incast`: how evenly flows share, and what it does to a bystander.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "analysis/checks/check_result.h"
#include "console/interrupt.h"
#include "console/json_print.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/perf/flow_report.h"
#include "lab/verbs/sweep/cli_perf.h"

namespace mrclab::lab {
namespace {

using nlohmann::ordered_json;

struct FlowOptions {
  PerfOptions common;
  std::string load = "100%";
  std::string message = "64K";
  std::string duration;  ///< empty: kShortest, or kLeastMessages of each flow
  std::string warmup = "20rtt";
  uint32_t qps = 1;
  std::string hosts = "all";  // permutation
  uint32_t shift = 0;         ///< 0: half of the hosts
  std::string from, to;       // incast
  std::string victim_from, victim_to;
};

/// Goodput is counted in whole messages, so one message more or less of 20 is
/// 5 %, and of 10 it is 10 %.
constexpr int64_t kLeastMessages = 20, kTooFewMessages = 10;
constexpr FabricTime kShortest = FabricTime::from_us(300);

/// What both verbs read from their options.
struct Load {
  Probability share;
  Bytes message;
  Window measured;
};

Load load_of(const FlowOptions& options) {
  Load load;
  load.share = perf_share(options.load, "--load");
  load.message = {perf_size(options.message, "--message")};
  if (load.message.value == 0 || load.message.value > 256u << 20) {
    throw InputError("--message: expected 1 to 256M");
  }
  return load;
}

/// The window in which flows are measured that are expected to get `gbps` each. A duration that the
/// user gives is taken, with a warning if it is short.
Window window_of(const PerfSetup& setup, const FlowOptions& options, Bytes message, double gbps) {
  Window window;
  window.from = perf_time(setup, options.warmup, "--warmup");
  const auto each =
      FabricTime::from_ps(static_cast<int64_t>(static_cast<double>(message.value) * 8e3 / gbps));
  if (options.duration.empty()) {
    window.to = window.from + std::max(kShortest, each * kLeastMessages);
    return window;
  }
  const FabricTime duration = perf_time(setup, options.duration, "--duration");
  if (duration == FabricTime::zero()) throw InputError("--duration: expected more than 0");
  window.to = window.from + duration;
  if (each * kTooFewMessages > duration) {
    fmt::print(stderr,
               "mrclab: a message takes {} at a flow's share: in {} what flows get is no more\n"
               "exact than that; --duration {} has {} of them\n",
               to_string(each), to_string(duration), to_string(each * kLeastMessages),
               kLeastMessages);
  }
  return window;
}

void add_flow_options(CLI::App& verb, FlowOptions& options) {
  add_perf_options(verb, options.common);
  verb.add_option("--load", options.load, "offered, of a host's line rate")->capture_default_str();
  verb.add_option("--message", options.message, "size of a message")->capture_default_str();
  verb.add_option("-D,--duration", options.duration,
                  "measured, as fabric time (default: 300us, or 20 messages of each flow)");
  verb.add_option("--warmup", options.warmup, "before it")->capture_default_str();
  verb.add_option("-q,--qp", options.qps, "queue pairs per flow")
      ->check(CLI::Range(1u, endpoint::kMaxQps))
      ->capture_default_str();
}

std::string heading(const PerfSetup& setup, const FlowOptions& options, const Load& load,
                    double full_gbps) {
  return fmt::format(
      "{}, world {}, seed {}; {} load, messages of {}, {} per flow\nmeasured for {} after {}; "
      "headers leave {:.2f} Gb/s of a host's {:g}\n\n",
      setup.topology.name, name_of(setup.world), setup.seed, exact(load.share), exact(load.message),
      counted_noun(options.qps, "qp"), to_string(load.measured.to - load.measured.from),
      to_string(load.measured.from), full_gbps,
      static_cast<double>(setup.topology.host_rate.bps) * setup.topology.planes * 1e-9);
}

ordered_json info_json(const PerfSetup& setup, const FlowOptions& options, const Load& load,
                       std::string_view test, double full_gbps) {
  return {{"test", test},       {"fabric", setup.topology.name},   {"world", name_of(setup.world)},
          {"seed", setup.seed}, {"load", exact(load.share)},       {"message", load.message.value},
          {"qps", options.qps}, {"header_limited_gbps", full_gbps}};
}

int permutation_command(const FlowOptions& options) {
  const InterruptGuard guard;
  PerfSetup setup = perf_setup(options.common);
  setup.interrupted = guard.question();
  Load load = load_of(options);
  endpoint::PermutationSpec spec;
  spec.hosts = perf_hosts(setup, options.hosts);
  if (spec.hosts.size() < 2) throw InputError("--hosts: expected at least two hosts");
  spec.load = load.share;
  spec.message = load.message;
  spec.qps = options.qps;
  spec.shift = options.shift != 0 ? options.shift : static_cast<uint32_t>(spec.hosts.size() / 2);
  if (spec.shift >= spec.hosts.size()) {
    throw InputError(
        fmt::format("--shift: found {}; expected 1 to {}", spec.shift, spec.hosts.size() - 1));
  }
  const double full = header_limited_gbps(setup, load.message);
  const double offered = full * static_cast<double>(load.share.ppb) / Probability::kOne;
  load.measured = window_of(setup, options, load.message, offered);
  const PerfOutcome outcome = run_perf(setup, {spec}, load.measured.to);
  const std::vector<FlowRow> rows = flow_rows(outcome.work, load.measured, offered);
  const FlowSummary summary = summary_of(rows);
  if (options.common.json) {
    ordered_json document = info_json(setup, options, load, "permutation", full);
    document["shift"] = spec.shift;
    document["flows"] = to_json(rows);
    document["summary"] = to_json(summary);
    fmt::print("{}\n", printed(document, "perf"));
  } else {
    fmt::print("permutation by {} of {} on {}{}\n{}", spec.shift,
               counted_noun(spec.hosts.size(), "host"), heading(setup, options, load, full),
               flow_table(rows), summary_line(summary, rows.size()));
  }
  return perf_code(outcome);
}

/// Without options: all other hosts to h0, beside them the last host to h1.
endpoint::IncastSpec incast_spec(const PerfSetup& setup, const FlowOptions& options,
                                 const Load& load) {
  const uint32_t count = setup.topology.host_count();
  if (count < 4) throw InputError("an incast with a victim needs a fabric of four hosts");
  endpoint::IncastSpec spec;
  spec.to = perf_host(setup, options.to, 0);
  endpoint::IncastSpec::Flow victim;
  victim.from = perf_host(setup, options.victim_from, spec.to == count - 1 ? count - 2 : count - 1);
  const uint32_t beside = spec.to == 0 ? 1 : 0;
  victim.to = perf_host(setup, options.victim_to, victim.from == beside ? beside + 1 : beside);
  if (victim.from == victim.to || victim.to == spec.to) {
    throw InputError("the victim's ends must differ, and its receiver is not the incast's");
  }
  spec.victim = victim;
  for (const uint32_t host : perf_hosts(setup, options.from.empty() ? "all" : options.from)) {
    const bool busy = host == victim.from || host == victim.to;
    if (host == spec.to && !options.from.empty()) {
      throw InputError("--from: the receiver cannot be one of the senders");
    }
    if (host == spec.to || (options.from.empty() && busy)) continue;
    spec.from.push_back(host);
  }
  spec.load = load.share;
  spec.message = load.message;
  spec.qps = options.qps;
  return spec;
}

/// The victim's flow alone, as an incast of one.
endpoint::IncastSpec solo(const endpoint::IncastSpec& both) {
  endpoint::IncastSpec spec = both;
  spec.from = {both.victim->from};
  spec.to = both.victim->to;
  spec.victim.reset();
  return spec;
}

int incast_command(const FlowOptions& options) {
  const InterruptGuard guard;
  PerfSetup setup = perf_setup(options.common);
  setup.interrupted = guard.question();
  Load load = load_of(options);
  const endpoint::IncastSpec spec = incast_spec(setup, options, load);
  const double full = header_limited_gbps(setup, load.message);
  const double offered = full * static_cast<double>(load.share.ppb) / Probability::kOne;
  const double fair = std::min(offered, full / static_cast<double>(spec.from.size()));
  load.measured = window_of(setup, options, load.message, fair);
  const PerfOutcome alone = run_perf(setup, {solo(spec)}, load.measured.to);
  const PerfOutcome together = run_perf(setup, {spec}, load.measured.to);

  std::vector<endpoint::WorkReport> senders, victims;
  for (const endpoint::WorkReport& report : together.work) {
    (report.to == spec.to ? senders : victims).push_back(report);
  }
  const std::vector<FlowRow> rows = flow_rows(senders, load.measured, fair);
  const FlowSummary summary = summary_of(rows);
  const FlowRow victim_alone = flow_rows(alone.work, load.measured, offered).at(0);
  const FlowRow victim = flow_rows(victims, load.measured, victim_alone.gbps).at(0);
  if (options.common.json) {
    ordered_json document = info_json(setup, options, load, "incast", full);
    document["fair_gbps"] = fair;
    document["flows"] = to_json(rows);
    document["summary"] = to_json(summary);
    document["victim"] = {{"flow", victim.name},
                          {"alone_gbps", victim_alone.gbps},
                          {"together_gbps", victim.gbps},
                          {"share", victim.share}};
    fmt::print("{}\n", printed(document, "perf"));
  } else {
    fmt::print("incast of {} to h{} on {}{}{}\n", counted_noun(spec.from.size(), "host"), spec.to,
               heading(setup, options, load, full), flow_table(rows),
               summary_line(summary, rows.size()));
    fmt::print("victim {}: {:.2f} Gb/s alone, {:.2f} Gb/s together ({:.2f} %)\n", victim.name,
               victim_alone.gbps, victim.gbps, victim.share * 100);
  }
  return analysis::worse_exit_code(perf_code(alone), perf_code(together));
}

}  // namespace

void add_perf_flows(CLI::App& perf, CliResult& result) {
  auto options = std::make_shared<FlowOptions>();  // shared with the callback
  CLI::App* permutation =
      perf.add_subcommand("permutation", "Every host writes to another: what each flow gets");
  add_flow_options(*permutation, *options);
  permutation->add_option("--hosts", options->hosts, "all, \"h[0-3]\"")->capture_default_str();
  permutation
      ->add_option("--shift", options->shift,
                   "host i writes to host i + shift (default: half of the hosts)")
      ->check(CLI::Range(uint64_t{1}, kMaxNodes));
  permutation->footer("Example: mrclab perf permutation hall --shift 4");
  permutation->callback([options, &result] { result.code = permutation_command(*options); });

  auto many = std::make_shared<FlowOptions>();  // shared with the callback
  CLI::App* incast =
      perf.add_subcommand("incast", "Many write to one, and what it does to a victim");
  add_flow_options(*incast, *many);
  incast->add_option("--from", many->from, "senders (default: all that are not otherwise busy)");
  incast->add_option("--to", many->to, "receiver (default: h0)");
  incast->add_option("--victim-from", many->victim_from, "default: the last host");
  incast->add_option("--victim-to", many->victim_to, "default: h1");
  incast->footer("Example: mrclab perf incast octet --from \"h[1-7]\" --to h0 --victim-to h1");
  incast->callback([many, &result] { result.code = incast_command(*many); });
}

}  // namespace mrclab::lab
