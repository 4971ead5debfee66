// Live = sim: random short scenarios both ways. MRCLAB_NIGHTLY=1 runs 20 of them and every incident;
// MRCLAB_SEEDS=7-9 runs these. What fails prints its scenario and the output of `mrclab diff`.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <sstream>
#include <tuple>

#include "fabric/topology/fabric_file.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/run_diff.h"
#include "scenario/spec/shipped_files.h"
#include "scenario/spec/transport_fit.h"
#include "tests/lab/support/random_scenario.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::nightly;

namespace {

/// Processes that do nothing but take the processor away.
class Burners {
 public:
  explicit Burners(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t pid = ::fork();
      REQUIRE(pid >= 0);
      if (pid > 0) {
        pids_.push_back(pid);
        continue;
      }
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (volatile bool burn = true; burn;) {
      }
    }
  }
  ~Burners() {
    for (const pid_t pid : pids_) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, 0);
    }
  }
  Burners(const Burners&) = delete;
  Burners& operator=(const Burners&) = delete;

 private:
  std::vector<pid_t> pids_;
};

/// How a live run is made that must not show in its history.
struct Variant {
  const char* name;
  bool isolate;
  uint32_t host_processes;
  uint32_t switch_processes;
  int burners;
};
constexpr Variant kVariants[] = {{"hosts in one process", false, 1, 2, 0},
                                 {"a process per plane", false, 2, 8, 0},
                                 {"one process per node", true, 2, 2, 0},
                                 {"beside two burners", false, 1, 1, 2},
                                 {"hosts in four processes", false, 4, 3, 0},
                                 {"one process per node beside two burners", true, 2, 2, 2}};

std::pair<uint64_t, uint64_t> seeds() {
  const char* chosen = std::getenv("MRCLAB_SEEDS");
  if (chosen == nullptr) return {1, nightly() ? 20 : 3};
  uint64_t first = 1, last = 0;
  char dash = 0;
  std::istringstream text(chosen);
  text >> first;
  last = text >> dash >> last ? last : first;
  return {first, last};
}

/// The nodes' events, whichever process wrote them in which order.
std::vector<std::string> events_of(const RunResult& run) {
  std::istringstream text(netio::read_file(run.folder.path / "events.jsonl", size_t{256} << 20));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.find("\"node\":\"lab\"") == std::string::npos) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

/// What was measured and what the hosts reported, without names of files and times of this machine.
std::vector<std::string> judgement_of(const RunResult& run) {
  std::vector<std::string> lines;
  for (const analysis::CheckResult& check : run.verdict.checks) {
    lines.push_back(check.about + " " + std::string(analysis::name_of(check.result)) + " " +
                    std::to_string(check.measured.value_or(-1)) + " " + check.note);
  }
  const analysis::Metrics& m = run.verdict.metrics;
  for (const uint64_t number :
       {m.data_packets, m.delivered, m.delivered_bytes, m.retransmitted, m.trimmed, m.lost}) {
    lines.push_back(std::to_string(number));
  }
  return lines;
}

/// Two racks of two hosts, and what RC and its switches do there.
struct RoceCase {
  const char* name;
  const char* switches;  ///< `roce:` of the fabric
  const char* transport;
  const char* workload;                                ///< and faults
  bool (*happened)(const analysis::Metrics& metrics);  ///< what the case is about
};
constexpr RoceCase kRoceCases[] = {
    {"one queue pair that goes back", "alpha: 0.5", "{profile: roce, timers: compressed, pfc: off}",
     R"(  - permutation: {hosts: all, load: 90%, message: 16KiB, shift: 2}
faults:
  - {at: 10us, wire_loss: {link: "h0:p0", direction: up, every: 20, for: 20us}}
)",
     [](const auto& m) { return m.lost > 0 && m.retransmitted > 4 * m.lost; }},
    {"sixteen queue pairs that pause each other", "alpha: 0.125",
     "{profile: roce, timers: compressed, qps: 16}",
     R"(  - incast: {from: "h[1-3]", to: h0, load: 60%, message: 8KiB}
)",
     [](const auto& m) { return m.pauses && m.lost == 0; }},
    {"a receiver that keeps what is ahead", "alpha: 0.5",
     "{profile: roce, timers: compressed, recovery: selective, reorder: 16, qps: 4, pfc: off}",
     R"(  - permutation: {hosts: all, load: 90%, message: 16KiB, shift: 2}
faults:
  - {at: 10us, wire_loss: {link: "h2:p0", direction: both, loss: 5%, for: 20us}}
)",
     [](const auto& m) { return m.lost > 0 && m.naks > 0; }},
    {"switches that spray RC", "alpha: 0.125",
     "{profile: roce, timers: compressed, recovery: selective, reorder: 63, adaptive_routing: on, dcqcn: off}",
     R"(  - all_to_all: {hosts: all, size: 128KiB, until: end}
)",
     [](const auto& m) { return m.delivered > 200; }},
    {"RC beside MRC", "alpha: 0.125", "{profile: lab, dcqcn: paper}",
     R"(  - permutation: {hosts: all, load: 60%, message: 16KiB, shift: 2}
  - incast: {from: [h0, h1, h3], to: h2, load: 50%, message: 16KiB, transport: roce}
)",
     [](const auto& m) { return m.pauses && m.delivered > 500; }},
    {"a storm that the watchdog ends", "watchdog: {detect: 8us, restore: 6us}",
     "{profile: roce, timers: compressed, dcqcn: off}",
     R"(  - permutation: {hosts: all, load: 80%, message: 32KiB, shift: 2}
faults:
  - {at: 10us, pause_storm: {host: h2, for: 30us}}
)",
     [](const auto& m) { return m.pauses && m.lost > 0; }},
};

Scenario roce_scenario(const RoceCase& each) {
  const std::string text =
      fmt::format(
          "name: roce\nseed: 3\nfabric: {{name: racks, planes: 2, t0: 2, t1: 2, hosts_per_t0: 2, "
          "host_rate: 100Gb/s, roce: {{{}}}}}\ntransport: {}\nworkload:\n",
          each.switches, each.transport) +
      each.workload + "end: 70us\nexpect:\n  - safety\n";
  return parse_scenario(read_yaml_text(text, "roce.yaml"));
}

/// One line each: why a run was not faithful.
std::string reasons_of(const RunResult& run) {
  std::string text;
  for (const std::string& reason : run.verdict.timing.reasons) text += reason + "\n";
  return text;
}

std::string differences(const RunResult& a, const RunResult& b) {
  return to_text(diff_runs(a.folder.path, b.folder.path, 8));
}

RunResult run_live(const test::TemporaryRuns& runs, const Scenario& scenario,
                   const Variant& variant) {
  RunOptions options = runs.options(World::kLive);
  options.isolate = variant.isolate;
  options.host_processes = variant.host_processes;
  options.switch_processes = variant.switch_processes;
  const Burners burners(variant.burners);
  return run_scenario(scenario, options);
}

/// Live as `variant` and simulated; the simulated one is returned.
RunResult run_both(const test::TemporaryRuns& runs, const Scenario& scenario,
                   const Variant& variant) {
  RunResult sim = runs.run(scenario);
  const RunResult live = run_live(runs, scenario, variant);
  CAPTURE(std::string(variant.name));
  CAPTURE(reasons_of(live));
  CHECK(live.verdict.timing.faithful);
  const bool same = live.verdict.metrics.history_sha256 == sim.verdict.metrics.history_sha256;
  CHECK_MESSAGE(same, differences(live, sim));
  CHECK(events_of(live) == events_of(sim));
  CHECK(judgement_of(live) == judgement_of(sim));
  return sim;
}

}  // namespace

TEST_CASE(
    "every random scenario is a valid one, the same for its seed, and has any kind of fault and of "
    "transport") {
  std::set<faults::FaultKind> drawn;
  std::set<std::tuple<bool, bool, bool>> transports;  // MRC, RC, pauses
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const std::string text = test::random_scenario(seed);
    CAPTURE(text);
    CHECK(text == test::random_scenario(seed));
    Scenario scenario;
    CHECK_NOTHROW(scenario = parse_scenario(read_yaml_text(text, "random.yaml")));
    for (const faults::Fault& fault : scenario.faults) drawn.insert(fault.kind);
    const bool roce = uses_roce(scenario);
    const bool mrc = scenario.transport.profile != "roce";
    transports.insert({mrc, roce, scenario.topology.lossless.pfc});
  }
  CHECK(drawn.size() == faults::kFaultKinds);
  using Kinds = std::set<std::tuple<bool, bool, bool>>;
  CHECK(transports == Kinds{{true, false, false},
                            {true, true, false},
                            {true, true, true},
                            {false, true, false},
                            {false, true, true}});
}

TEST_SUITE("root: live = sim") {
  TEST_CASE("random scenarios have one history, live and simulated") {
    const auto [first, last] = seeds();
    for (uint64_t seed = first; seed <= last; ++seed) {
      const test::TemporaryRuns runs;
      const std::string text = test::random_scenario(seed);
      CAPTURE(seed);
      CAPTURE(text);
      run_both(runs, parse_scenario(read_yaml_text(text, "random.yaml")),
               kVariants[seed % std::size(kVariants)]);
    }
  }

  TEST_CASE("RC has one history, live and simulated, in recovery, pauses and beside MRC") {
    size_t variant = 0;
    for (const RoceCase& each : kRoceCases) {
      const test::TemporaryRuns runs;
      CAPTURE(std::string(each.name));
      const Scenario scenario = roce_scenario(each);
      const RunResult sim = run_both(runs, scenario, kVariants[variant++ % std::size(kVariants)]);
      CHECK(sim.verdict.result == analysis::Result::kPass);
      CHECK(each.happened(sim.verdict.metrics));
    }
  }

  TEST_CASE("switches and NICs that route by themselves have one history, live and simulated") {
    size_t variant = 0;
    for (const char* name :
         {MRCLAB_SOURCE_DIR "/tests/scenarios/fare-live.yaml",
          MRCLAB_SOURCE_DIR "/tests/scenarios/reroute-live.yaml", "fare-plane-lost"}) {
      const test::TemporaryRuns runs;
      CAPTURE(std::string(name));
      const RunResult sim =
          run_both(runs, load_scenario(name), kVariants[variant++ % std::size(kVariants)]);
      CHECK(sim.verdict.result == analysis::Result::kPass);
    }
  }

  TEST_CASE("without its payload a scenario has the same history, live and simulated") {
    // Bits flip on a wire and in a switch, frames are trimmed, lost and trimmed again.
    constexpr const char* kText = R"(
name: elided
seed: 5
fabric: {name: f, planes: 2, t0: 2, t1: 2, hosts_per_t0: 2, host_rate: 100Gb/s}
payload: elided
workload:
  - incast: {from: "h[1-3]", to: h0, load: 90%, message: 64KiB}
faults:
  - {at: 5us, bit_errors: {link: "p0.t0-0:u0", direction: both, rate: 1e-5, for: 50us}}
  - {at: 5us, bit_errors: {switch: p1.t1-0, rate: 1e-5, for: 50us}}
  - {at: 9us, wire_loss: {link: "h2:p1", direction: up, loss: 5%, for: 30us}}
end: 60us
expect:
  - safety
)";
    const test::TemporaryRuns runs;
    for (const Variant& variant : {kVariants[0], kVariants[2]}) {
      const RunResult sim =
          run_both(runs, parse_scenario(read_yaml_text(kText, "elided.yaml")), variant);
      CHECK(sim.verdict.payload_elided);
      CHECK(sim.verdict.metrics.trimmed > 0);
      CHECK(sim.verdict.metrics.lost > 0);
      CHECK(sim.verdict.metrics.delivered > 100);
    }
    ScenarioOverrides whole;
    whole.payload_elided = false;
    const RunResult real =
        runs.run(parse_scenario(read_yaml_text(kText, "elided.yaml"), {}, whole));
    const RunResult elided = runs.run(parse_scenario(read_yaml_text(kText, "elided.yaml")));
    CHECK(real.verdict.metrics.history_sha256 == elided.verdict.metrics.history_sha256);
  }

  TEST_CASE("cut-through, codewords and retraining have one history, live and simulated") {
    // Hosts are slower than the links between switches, so that frames are stored on their way up and cut through on
    // their way down; a link loses codewords and is trained anew, another one goes dark.
    constexpr const char* kText = R"(
name: hard
seed: 5
fabric: {name: f, planes: 2, t0: 2, t1: 2, hosts_per_t0: 2, host_rate: 100Gb/s, fabric_rate: 200Gb/s, switching: cut_through, nics_per_node: 2}
workload:
  - all_reduce: {hosts: rail-0, size: 256KiB, until: end}
  - all_reduce: {hosts: rail-1, size: 256KiB, until: end}
  - incast: {from: "h[1-3]", to: h0, load: 50%, message: 64KiB}
faults:
  - {at: 5us, bit_errors: {link: "p0.t0-0:u0", rate: 2e-3, fec: kp4, dfe: 30%, retrain: 8us, for: 50us}}
  - {at: 20us, link_down: {link: "p1.t0-0:u1", for: 20us}}
end: 80us
expect:
  - safety
)";
    const test::TemporaryRuns runs;
    for (const Variant& variant : {kVariants[0], kVariants[2]}) {
      const RunResult sim =
          run_both(runs, parse_scenario(read_yaml_text(kText, "hard.yaml")), variant);
      CHECK(sim.verdict.metrics.lost > 0);
      CHECK(sim.verdict.metrics.delivered > 100);
    }
  }

  TEST_CASE("a mapper's probes and reports are the same, live and simulated, in both forms") {
    for (const std::string form : {"own", "stamp"}) {
      CAPTURE(form);
      const std::string text =
          "name: mapped\nseed: 5\n"
          "fabric: {name: f, planes: 2, t0: 2, t1: 2, hosts_per_t0: 2, host_rate: 100Gb/s}\n"
          "mapper: {period: 6rtt, form: " +
          form + R"(}
workload:
  - incast: {from: "h[1-3]", to: h0, load: 60%, message: 64KiB}
faults:
  - {at: 20us, wire_loss: {link: "p0.t0-0:u0", direction: up, loss: 50%}}
  - {at: 60us, port_down: {port: "h3:p1", for: 150us}}
  - {at: 90us, bit_errors: {switch: p1.t1-0, rate: 1e-4, for: 90us}}
  - {at: 250us, host_restart: {host: h2, down: 60us}}
end: 400us
expect:
  - safety
)";
      const test::TemporaryRuns runs;
      const RunResult sim = run_both(runs, parse_scenario(read_yaml_text(text, "mapped.yaml")),
                                     kVariants[form == "own" ? 0 : 2]);
      REQUIRE(sim.verdict.mapper);
      CHECK(sim.verdict.mapper->sent > 50);
      CHECK(sim.verdict.mapper->lost > 0);
      CHECK_FALSE(sim.verdict.mapper->found.empty());
    }
  }

  TEST_CASE("what neighbours and an orchestrator do is the same, live and simulated") {
    constexpr const char* kText = R"(
name: orchestrated
fabric: {name: f, planes: 2, t0: 2, t1: 2, hosts_per_t0: 2, orchestrator: {period: 3rtt, provisioning: 2rtt},
         miscabled: [["p0.t0-0:u0", "p0.t0-0:u1"]]}
seed: 5
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
  - {at: 30us, switch_reboot: {switch: p1.t1-0, down: 30us, reload: 10us}}
  - {at: 40us, stale_table: {route: "p1.t1-0:*", for: 90us}}
  - {at: 60us, port_down: {port: "h3:p1", for: 50us}}
  - {at: 90us, host_restart: {host: h2, down: 60us}}
end: 250us
expect:
  - safety
)";
    const test::TemporaryRuns runs;
    const RunResult sim =
        run_both(runs, parse_scenario(read_yaml_text(kText, "orchestrated.yaml")), kVariants[0]);
    REQUIRE(sim.verdict.orchestrator);
    CHECK(sim.verdict.orchestrator->links == 16);
    CHECK(sim.verdict.orchestrator->as_planned == 14);
    REQUIRE(sim.verdict.orchestrator->found.size() == 1);
    CHECK(sim.verdict.orchestrator->found[0].remedies.size() == 1);
    std::vector<std::string> phases;
    for (const auto& step : sim.verdict.orchestrator->services) phases.push_back(step.phase);
    CHECK(phases == std::vector<std::string>{"down", "provisioning", "kept_out", "in_service"});
  }

  TEST_CASE("what a denylist decides, sends and leaves out is the same, live and simulated") {
    const std::string text = R"(
name: denied
seed: 5
fabric: {name: f, planes: 2, t0: 2, t1: 4, hosts_per_t0: 2, host_rate: 100Gb/s}
mapper: {period: 6rtt}
denylist: {clean: 2, static: ["p1.t0-0:u3"], drain: [{part: p1.t1-2, from: 150us, to: 200us}]}
workload:
  - incast: {from: "h[1-3]", to: h0, load: 60%, message: 64KiB}
faults:
  - {at: 20us, blackhole: {link: "p0.t0-0:u0", for: 100us}}
  - {at: 250us, host_restart: {host: h2, down: 60us}}
end: 600us
expect:
  - safety
  - denied: {part: "link p0.t0-0:u0--p0.t1-0:d0"}
  - denied: {part: "switch p1.t1-2"}
  - allowed_again: {part: "link p1.t0-0:u3--p1.t1-3:d0"}
)";
    const test::TemporaryRuns runs;
    const RunResult sim =
        run_both(runs, parse_scenario(read_yaml_text(text, "denied.yaml")), kVariants[0]);
    REQUIRE(sim.verdict.denylist);
    CHECK(sim.verdict.denylist->lists > 3);
    CHECK(sim.verdict.denylist->expired == 0);
  }

  TEST_CASE("a difference planted between a live and a simulated run is named") {
    const test::TemporaryRuns runs;
    constexpr const char* kText = R"(
name: planted
fabric: pair
seed: 9
workload:
  - all_reduce: {hosts: all, size: 256KiB, until: end}
faults:
  - {at: 10us, link_down: {link: "p1.t0-0:u0", for: 10us}}
end: 60us
expect:
  - no_qp_error
)";
    Scenario scenario = parse_scenario(read_yaml_text(kText, "planted.yaml"));
    const RunResult live = runs.run(scenario, World::kLive);
    REQUIRE(live.verdict.timing.faithful);
    // One wire of the simulated fabric loses its light for a microsecond.
    const WireId wire = scenario.topology.port(*scenario.topology.find_port("h1:p0")).out;
    for (const bool up : {false, true}) {
      ScheduledEffect effect;
      effect.at = FabricTime::from_us(up ? 6 : 5);
      effect.effect = WireState{wire, up};
      effect.sequence = scenario.schedule.back().sequence + 1;
      scenario.schedule.push_back(effect);
    }
    const RunDiff diff = diff_runs(live.folder.path, runs.run(scenario).folder.path, 8);
    CAPTURE(to_text(diff));
    REQUIRE(diff.located);
    const StreamDifference& first = diff.streams.front();
    CHECK(first.name == "p0.t0-1:d0/in");
    CHECK(first.t > FabricTime::from_us(5));
    CHECK(first.t < FabricTime::from_us(8));
    REQUIRE(first.b);
    CHECK(first.b->cause == DropCause::kWireDown);
  }

  TEST_CASE("every incident has one history: grouped, one process per node, simulated twice") {
    if (!nightly()) return;  // the ordinary test runs two of them live
    for (const std::string& incident : mrclab::lab::shipped_names("incidents")) {
      const test::TemporaryRuns runs;
      const Scenario scenario = load_scenario(incident);
      CAPTURE(scenario.name);
      const RunResult sim = runs.run(scenario);
      const std::string digest = sim.verdict.metrics.history_sha256;
      CHECK(runs.run(scenario).verdict.metrics.history_sha256 == digest);
      for (const Variant& variant : {kVariants[1], kVariants[2]}) {
        const RunResult live = run_live(runs, scenario, variant);
        CAPTURE(reasons_of(live));
        CHECK(live.verdict.timing.faithful);
        CHECK_MESSAGE(live.verdict.metrics.history_sha256 == digest, differences(live, sim));
      }
    }
  }
}
