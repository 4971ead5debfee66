#include "lab/chaos/chaos_scenario.h"
#include "endpoint/roce/rc_timers.h"
#include "fabric/topology/build_topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fare.h"
#include "faults/draws.h"
#include "faults/schedule.h"
#include "lab/chaos/chaos_job.h"
#include "lab/chaos/chaos_workload.h"
#include "scenario/spec/shipped_files.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

constexpr size_t kNameMax = 32;
/// Below these streams of a seed's draws are the scenario's and the faults' (faults/generator.cc).
constexpr uint32_t kReceiverDraws = 1 << 16, kBeginDraws = kReceiverDraws + 1;

ChaosBase scenario_base(const std::string& word, Scenario scenario) {
  // Seeds are simulated; without its programs a scenario is another one.
  for (const ExecSpec& program : scenario.programs) {
    if (is_held(scenario, program)) continue;
    throw InputError(
        word +
        ": found \"exec\" in this machine's time: expected \"timing: held\", for programs of RDMA, or a "
        "scenario without programs");
  }
  ChaosBase base{word, scenario.fabric, std::nullopt};
  base.scenario = std::move(scenario);
  return base;
}

/// Faults that leave the wires as built, so that pauses and the headroom for frames under
/// way still suffice.
constexpr std::array kLeaveWires{faults::FaultKind::kTrimOff,      faults::FaultKind::kEcnOff,
                                 faults::FaultKind::kEcnAlways,    faults::FaultKind::kHostPause,
                                 faults::FaultKind::kIncast,       faults::FaultKind::kDenylist,
                                 faults::FaultKind::kSlowReceiver, faults::FaultKind::kPcieStall,
                                 faults::FaultKind::kPauseStorm,   faults::FaultKind::kDrain};

/// Until switches that route by themselves have found all ways; zero where none does.
FabricTime routed_within(const Topology& topology) {
  return topology.routing.by_default == Routing::kFare ? fare_ready(topology) : FabricTime::zero();
}

/// Does one end of a link lose its carrier and the other not? Then a session of BGP is lost at one end, and without
/// BFD the other one keeps it, and refuses another (RFC 4271 section 6.8), until it has something to send or its hold
/// time is over.
bool leaves_half_a_session(const Scenario& scenario) {
  const Topology& topology = scenario.topology;
  if (topology.routing.by_default != Routing::kFare ||
      topology.routing.fare.bfd_interval() != FabricTime::zero()) {
    return false;
  }
  std::set<std::pair<FabricTime, PortRef>> lost;
  for (const ScheduledEffect& scheduled : scenario.schedule) {
    const auto* carrier = std::get_if<PortCarrier>(&scheduled.effect);
    if (carrier != nullptr && !carrier->up) lost.insert({scheduled.at, carrier->port});
  }
  return std::any_of(lost.begin(), lost.end(), [&](const auto& end) {
    return !lost.contains({end.first, topology.port(end.second).peer});
  });
}

/// Do all frames of RoCE find room, as long as pauses are obeyed? Not with a watchdog that drops them.
bool pauses_keep_all(const ChaosScenario& drawn) {
  const LosslessProfile& lossless = drawn.scenario.topology.lossless;
  const std::vector<faults::Fault>& faults = drawn.scenario.faults;
  return lossless.pfc && lossless.watchdog != WatchdogAction::kDrop &&
         std::all_of(faults.begin(), faults.end(), [](const faults::Fault& fault) {
           return std::count(kLeaveWires.begin(), kLeaveWires.end(), fault.kind) == 1;
         });
}

/// How much longer than others a transport may take to come back after the last loss. REPS uses the values that it
/// held when a packet was lost over and over, until its freeze is over; toward a NIC with ports on two switches they may
/// all lead to one of them, and no last hop marks.
FabricTime slow_to_come_back(const ChaosScenario& drawn) {
  const auto profile = endpoint::make_profile(drawn.scenario.transport, drawn.scenario.topology);
  const bool reps = profile.path_choice == endpoint::PathChoice::kReps;
  return reps ? profile.ev_limits().frozen : FabricTime::zero();
}

/// May a rate be at its least when the run ends, and nothing be sent any more? Where every packet is marked DCQCN halves
/// a rate of 100 Gb/s to 1 Mb/s in some twenty cuts, and a packet of 4 KiB then keeps the next one back for 34 ms. The
/// tunings whose timer is slower than the default and that count no bytes bring nothing back within kAfterHealRtts. Nor
/// does any where CNPs may come more often than a NIC sends them (4 us, MIN_TIME_BETWEEN_CNPS of a ConnectX): seven cuts
/// in 7 us leave 1 %, and their target with it.
bool may_stand_still(const ChaosScenario& drawn) {
  if (!has_roce(drawn.transport)) return false;
  const Topology& topology = drawn.scenario.topology;
  const auto profile = endpoint::make_profile(drawn.scenario.transport, topology);
  const bool slow = profile.dcqcn == endpoint::DcqcnChoice::kAggressive ||
                    profile.dcqcn == endpoint::DcqcnChoice::kMostAggressive ||
                    (profile.dcqcn != endpoint::DcqcnChoice::kOff &&
                     profile.cnp_interval < FabricTime::from_us(4));
  const std::vector<faults::Fault>& faults = drawn.scenario.faults;
  return slow && std::any_of(faults.begin(), faults.end(), [](const faults::Fault& fault) {
           return fault.kind == faults::FaultKind::kEcnAlways;
         });
}

/// Hosts whose queue pairs have something to do.
std::vector<uint32_t> working_hosts(const Scenario& scenario) {
  std::vector<uint32_t> working = hosts_of(scenario.workload);
  for (const ExecSpec& program : scenario.programs) working.push_back(program.host);
  std::sort(working.begin(), working.end());
  working.erase(std::unique(working.begin(), working.end()), working.end());
  return working;
}

/// Does every host that works lose its power, and with it the queue pairs that it could report?
bool all_lose_power(const Scenario& scenario) {
  std::vector<bool> down(scenario.topology.host_count());
  for (const ScheduledEffect& scheduled : scenario.schedule) {
    const auto* state = std::get_if<HostState>(&scheduled.effect);
    if (state == nullptr || state->work != HostWork::kDown) continue;
    down[scenario.topology.node(state->host).index] = true;
  }
  const std::vector<uint32_t> working = working_hosts(scenario);
  return std::all_of(working.begin(), working.end(), [&](uint32_t host) { return down[host]; });
}

/// That add_job() has put there; null: none.
const endpoint::JobWorkload* job_of(const Scenario& scenario) {
  if (scenario.workload.empty()) return nullptr;
  return std::get_if<endpoint::JobWorkload>(&scenario.workload.front());
}

/// Safety must hold whatever the faults are, liveness only if they left the transport a path. What no run of this
/// scenario could show is not asked for.
std::vector<analysis::Expectation> expectations(const ChaosScenario& drawn) {
  std::vector<analysis::Expectation> expect{analysis::ExpectMemoryIntact{},
                                            analysis::ExpectSafety{}};
  // The memory of a program is its own: it says by its exit code what became of it.
  if (drawn.scenario.workload.empty()) expect.erase(expect.begin());
  if (all_lose_power(drawn.scenario)) {
    expect = analysis::without_bundles(expect);
    std::erase_if(expect, [](const analysis::Expectation& one) {
      return std::holds_alternative<analysis::ExpectNoQpErrorWhileAPathLives>(one);
    });
  }
  if (pauses_keep_all(drawn)) {
    expect.emplace_back(analysis::ExpectLossless{});
    expect.emplace_back(analysis::ExpectDeadlockFree{});
  }
  if (drawn.scenario.faults.empty()) return expect;
  if (!drawn.survivable || leaves_half_a_session(drawn.scenario)) return expect;
  expect.emplace_back(analysis::ExpectNoQpError{});
  if (may_stand_still(drawn)) return expect;
  const Topology& topology = drawn.scenario.topology;
  const FabricTime within = routed_within(topology) +
                            topology.base_rtt * (kAfterHealRtts - kSlackRtts) +
                            slow_to_come_back(drawn);
  // An incast is over by itself: nothing undoes it.
  const auto& schedule = drawn.scenario.schedule;
  if (std::any_of(schedule.begin(), schedule.end(),
                  [](const ScheduledEffect& scheduled) { return scheduled.heals; })) {
    expect.emplace_back(analysis::ExpectHealed{});
  }
  // What programs of the user's send, and when, nobody has planned.
  if (!drawn.scenario.programs.empty()) return expect;
  const auto profile = endpoint::make_profile(drawn.scenario.transport, drawn.scenario.topology);
  if (!can_catch_up(drawn.scenario.workload, profile, drawn.scenario.topology)) return expect;
  const bool limited = has_roce(drawn.transport) && profile.dcqcn != endpoint::DcqcnChoice::kOff;
  if (const endpoint::JobWorkload* job = job_of(drawn.scenario)) {
    // Its goodput is that of its steps, one of which is not as another.
    expect.emplace_back(analysis::ExpectJobAlive{});
    if (!limited) expect.emplace_back(analysis::ExpectStepsDone{{job->spec.steps}, {}});
    return expect;
  }
  expect.emplace_back(analysis::ExpectGoodputBack{within, limited ? kBackOfLimited
                                                          : has_closed_loop(drawn.scenario.workload)
                                                              ? kBackOfLoops
                                                              : kBack});
  expect.emplace_back(analysis::ExpectEvsGood{within});
  // Without marks no CNP slows a sender of RoCE down, and a queue then stands as long as the load does.
  const bool slowed = !has_roce(drawn.transport) || topology.queues.ecn;
  if (slowed) expect.emplace_back(analysis::ExpectQueuesEmpty{});
  return expect;
}

/// The workload fits the job as well, which is the first of its entries. What is sent beside it leaves it half.
void add_job(const DrawnJob& job, const DrawnTransport& transport, ChaosScenario& drawn) {
  endpoint::WorkloadSpec work = job.work;
  if (has_roce(transport.transport)) {
    std::vector<endpoint::WorkloadSpec> one{std::move(work)};
    std::get<endpoint::JobWorkload>(one.front()).transport = endpoint::TransportKind::kRoce;
    endpoint::set_default_qps(one, transport.qps);
    work = std::move(one.front());
  }
  std::vector<endpoint::WorkloadSpec>& workload = drawn.scenario.workload;
  if (job.alone) workload.clear();
  if (workload.size() > 1) workload.pop_back();
  for (endpoint::WorkloadSpec& beside : workload) {
    std::visit(
        [](auto& spec) {
          if constexpr (requires { spec.load; }) spec.load.ppb = std::max(spec.load.ppb / 2, 1u);
        },
        beside);
  }
  workload.insert(workload.begin(), std::move(work));
}

/// Before, no switch has a route.
void begin_routed(Scenario& scenario) {
  for (endpoint::WorkloadSpec& workload : scenario.workload) {
    std::visit([&](auto& spec) { spec.at = routed_within(scenario.topology); }, workload);
  }
}

/// The workload fits the transport, and the fabric both.
void take_transport(const DrawnTransport& transport, faults::Draws& draws, const DrawnJob* job,
                    ChaosScenario& drawn) {
  Scenario& scenario = drawn.scenario;
  drawn.transport = transport.transport;
  scenario.transport = transport.choice;
  if (!has_roce(transport.transport)) {
    const bool trimming = endpoint::make_profile(scenario.transport, scenario.topology).trim_nack;
    scenario.workload = draw_workload(draws, scenario.topology, scenario.end, trimming);
    if (job != nullptr) add_job(*job, transport, drawn);
    begin_routed(scenario);
    return;
  }
  scenario.workload = draw_roce_workload(draws, scenario.topology, scenario.end, transport.qps,
                                         transport.transport == ChaosTransport::kMixed);
  if (job != nullptr) add_job(*job, transport, drawn);
  begin_routed(scenario);
  LosslessProfile& lossless = scenario.fabric.lossless;
  lossless.watchdog = transport.watchdog;
  if (lossless.watchdog != WatchdogAction::kOff) {
    lossless.detect = transport.detect;
    lossless.restore = transport.restore;
  }
  fit_fabric_to_transport(scenario);
}

/// How long RC tries, but for the last of its timeouts: it may have begun before the outage.
std::optional<FabricTime> patience_of(const ChaosScenario& drawn) {
  if (!has_roce(drawn.transport)) return std::nullopt;
  const auto profile = endpoint::make_profile(drawn.scenario.transport, drawn.scenario.topology);
  const endpoint::RcTimes times = endpoint::rc_times(profile);
  if (times.regular == FabricTime::never()) return times.regular;
  return times.until_failure(profile.rc_retries) - times.after(times.most(profile.rc_retries));
}

FabricTime next_whole_us(FabricTime t) { return FabricTime::from_us(t.ns() / 1'000 + 1); }

/// An instant of the first three quarters, so that something is sent while faults are there.
FabricTime within(const std::pair<FabricTime, FabricTime>& traffic, uint64_t seed) {
  faults::Draws draws(seed, kBeginDraws);
  constexpr uint64_t kParts = 1'000, kMostParts = 750;
  const FabricTime span = traffic.second - traffic.first;
  return traffic.first + span / kParts * static_cast<int64_t>(draws.below(kMostParts));
}

}  // namespace

ChaosBase load_chaos_base(const std::string& word) {
  if (word.ends_with(kWithJob) && !std::filesystem::exists(word)) {
    ChaosBase base = load_chaos_base(word.substr(0, word.size() - kWithJob.size()));
    if (base.scenario) {
      throw InputError(
          fmt::format("{}: found a scenario before \"{}\": expected a fabric", word, kWithJob));
    }
    base.word = word;
    base.jobs = true;
    return base;
  }
  const std::filesystem::path file = find_fabric_or_scenario(word);
  const YamlValue document = read_yaml_file(file);
  if (document.is_map() && (document.get("workload") || document.get("include")))
    return scenario_base(word, read_scenario_file(file));
  return {word, parse_fabric(document), std::nullopt};
}

ChaosScenario chaos_scenario(const ChaosBase& base, uint64_t seed) {
  ChaosScenario drawn;
  Scenario& scenario = drawn.scenario;
  if (base.scenario) {
    scenario = *base.scenario;
  } else {
    scenario.fabric = base.fabric;
    scenario.topology = build_topology(base.fabric);
  }
  check_lookahead(scenario.topology);
  const std::string label = base.scenario ? base.scenario->name : base.fabric.name;
  const std::string number = "-" + std::to_string(seed);
  const std::string named = base.jobs ? label + "-job" : label;
  scenario.name = ("chaos-" + named).substr(0, kNameMax - number.size()) + number;
  scenario.seed = seed;

  faults::Draws draws(seed, 0);
  const FabricTime rtt = scenario.topology.base_rtt;
  const FabricTime routed = routed_within(scenario.topology);
  const FabricTime from =
      next_whole_us(base.traffic ? within(*base.traffic, seed) : routed + rtt * kSteadyRtts);
  const FabricTime healed =
      from + next_whole_us(rtt * draws.by_magnitude(kFaultRttsMin, kFaultRttsMax));
  scenario.end = healed + next_whole_us(routed + rtt * kAfterHealRtts);
  if (base.scenario && !base.scenario->programs.empty()) {
    // So long they may need, and longer by what they wait for.
    scenario.end = std::max(scenario.end, base.scenario->end + (scenario.end - from));
  }
  scenario.until.reset();
  if (!base.scenario) {
    scenario.captures = CaptureScope::kHosts;
    faults::Draws receiver_draws(seed, kReceiverDraws);
    const DrawnTransport transport = draw_transport(seed, draws, receiver_draws, scenario.topology,
                                                    !why_without_roce(scenario.topology));
    std::optional<DrawnJob> job;
    if (base.jobs) {
      job = draw_job(seed, scenario.topology, healed - routed);
      scenario.end = std::max(scenario.end, healed + next_whole_us(job->ideal * kJobPatience));
    }
    take_transport(transport, draws, job ? &*job : nullptr, drawn);
  } else if (uses_roce(scenario)) {
    drawn.transport = ChaosTransport::kRoce;
  }
  if (const FabricTime slow = slow_to_come_back(drawn); slow > FabricTime::zero()) {
    scenario.end += next_whole_us(slow);
  }
  const faults::DrawnFaults faults =
      faults::draw_faults(scenario.topology, {.seed = seed,
                                              .from = from,
                                              .heal_by = healed,
                                              .hosts = working_hosts(scenario),
                                              .patience = patience_of(drawn)});
  drawn.kinds = faults.kinds;
  drawn.survivable = faults.survivable;
  scenario.faults = faults.faults;
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  scenario.expect = expectations(drawn);
  scenario.about =
      fmt::format("Chaos on {}{}, seed {}: faults from {} on, all healed by {}; {}.", label,
                  base.jobs ? " with a job" : "", seed, exact(from), exact(healed),
                  drawn.survivable ? "survivable by construction" : "not survivable");
  return drawn;
}

}  // namespace mrclab::lab
