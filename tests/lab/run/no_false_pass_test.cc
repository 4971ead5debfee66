// No check passes without evidence: every expectation, in a run in which it holds, and in runs in which what it asks
// about was not sent, not seen, not finished, or never happened.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "analysis/expect/expectation_fields.h"
#include "analysis/judge/analyze.h"
#include "faults/schedule.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/scenario.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

using analysis::Result;

/// A scenario in which all of `expect` holds. Its windows begin at 500us. `once` in place of `work` is done
/// before 300us.
struct WholeStory {
  const char* name;
  const char* head;
  const char* work;
  const char* once;
  const char* faults;
  const char* end;
  const char* expect;
};

constexpr const char* kDown = "  - {at: 300us, link_down: {link: \"p1.t0-0:u0\", for: 160us}}\n";

/// Done after 600us.
constexpr const char* kStepped = R"(  - job:
      name: a
      hosts: all
      steps: 8
      phases:
        - forward: {compute: 80us}
        - grads: {all_reduce: {size: 64KiB}}
)";

const std::vector<WholeStory>& stories() {
  static const std::vector<WholeStory> kStories{
      {"spray", "fabric: trio\n", "  - permutation: {hosts: all, load: 60%, message: 64KiB}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 20}\n", kDown, "900us",
       R"(  - safety
  - liveness
  - steady
  - no_qp_error
  - memory_intact
  - goodput: {from: 500us, host: h5, at_least: 30%, at_most: 70%, of: line_rate}
  - goodput: {from: 500us, host: h5, at_most: 70%, of: line_rate}
  - gap: {from: 500us, host: h5, every: 4us, at_most: 20us, below: 10%, of: line_rate}
  - samples: {from: 500us, host: h5, every: 50us, min_over_mean: 60%}
  - fairness: {from: 500us, at_least: 98%, host: h5, by: min_over_max}
  - losses_per_qp: {from: 500us, host: h5, at_most: 0}
  - affected_qps: {from: 500us, host: h5, at_most: 0%}
  - losses: {from: 500us, host: h5, at_most: 0}
  - trims: {from: 500us, host: h5, at_most: 0}
  - retransmissions: {from: 500us, host: h5, at_most: 0}
  - share: {path: "p0/*", from: 500us, host: h5, at_least: 20%}
  - path_unused: {path: "p1/u0", from: 350us, until: 440us}
  - counter: {name: fatal_nacks, at_most: 0}
  - detect: {within: 10rtt}
  - recover: {within: 40rtt}
  - leave: {within: 10rtt}
  - message_time: {from: 500us, host: h5, at_most: 100us}
)"},
      {"ring", "fabric: trio\n", "  - all_reduce: {hosts: all, size: 256KiB, until: end}\n",
       "  - all_reduce: {hosts: all, size: 256KiB, iterations: 2}\n", kDown, "900us",
       "  - completion_time: {from: 500us, slower_by: 20%}\n"},
      {"pings", "fabric: trio\n", "  - ping_pong: {from: h0, to: h5, size: 2B, until: end}\n",
       "  - ping_pong: {from: h0, to: h5, size: 2B, count: 10}\n", "", "900us",
       "  - latency: {source: h0, destination: h5, from: 500us, at_most: 10us}\n"},
      {"gone", "fabric: pair\n", "  - permutation: {hosts: all, load: 10%, message: 4KiB}\n",
       "  - write: {from: h0, to: h1, size: 4KiB, count: 10}\n",
       "  - {at: 300us, host_restart: {host: h1, down: 10ms}}\n", "3ms",
       "  - qp_error: {reason: \"Retry Counter Exceeded\"}\n"},
      {"pauses", "fabric: trio\ntransport: {profile: roce}\n",
       "  - permutation: {hosts: all, load: 30%, message: 64KiB}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 5}\n", "", "900us",
       R"(  - lossless: {from: 500us}
  - pause: {from: 500us, at_most: 50%}
  - deadlock_free: {longer_than: 100us}
)"},
      {"routed", "fabric: fare\n", "  - permutation: {hosts: all, load: 30%, message: 64KiB}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 5}\n", "", "900us",
       "  - port_share: {port: \"p0.t0-0:u0\", among: \"p0.t0-0:u*\", from: 500us, at_least: "
       "5%}\n"},
      {"mapped", "fabric: octet\nmapper: {period: 4rtt}\ndenylist: {clean: 2}\n",
       "  - permutation: {hosts: all, load: 10%, message: 64KiB}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 5}\n",
       "  - {at: 300us, link_down: {link: \"p0.t0-0:u1\", for: 150us}}\n", "900us",
       "  - mapper_names: {part: \"link p0.t0-0:u1--p0.t1-1:d0\", within: 500us}\n"
       "  - denied: {part: \"link p0.t0-0:u1--p0.t1-1:d0\", within: 500us}\n"
       "  - allowed_again: {part: \"link p0.t0-0:u1--p0.t1-1:d0\"}\n"},
      {"apart", "fabric: octet\nauthorise: t0\ntenants: {a: \"h[0-3]\", b: \"h[4-7]\"}\n",
       "  - permutation: {hosts: \"h[0-3]\", load: 10%, message: 64KiB}\n",
       "  - write: {from: h0, to: h1, size: 64KiB, count: 5}\n",
       "  - {at: 300us, attack: {kind: tenant, from: h3, to: h4, share: 20%, for: 50us}}\n",
       "600us",
       "  - isolated\n  - datagrams: {to: \"h*\", at_most: 0}\n"
       "  - dropped_for: {reason: not_authorised_tenant, host: h3, at_least: 1}\n"},
      {"wired",
       "fabric: {like: octet, orchestrator: on, miscabled: [[\"p0.t0-0:u1\", \"p0.t0-0:u2\"]]}\n",
       "  - permutation: {hosts: all, load: 10%, message: 64KiB}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 5}\n", "", "600us",
       "  - orchestrator_names: {part: \"p0.t0-0:u1\", within: 100us}\n"},
      {"stepped", "fabric: trio\n", kStepped,
       "  - write: {from: h0, to: h5, size: 64KiB, count: 20}\n", "", "1200us",
       R"(  - step_time: {at_most: 300%, of: roofline}
  - exposed: {at_most: 90%, group: all}
  - straggler: {at_most: 1%}
  - steps_done: 8
  - job_alive
)"},
      {"goes-on", "fabric: trio\n",
       "  - job: {name: a, hosts: all, steps: 8, checkpoint: {every: 1}, on_error: {then: restart, "
       "watchdog: 100us, detect: 1us}, phases: [{f: {compute: 80us}}, {g: {all_reduce: {size: "
       "64KiB}}}]}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 20}\n",
       "  - {at: 560us, host_pause: {host: h1, for: 200us}}\n", "1500us",
       "  - job_goes_on: {within: 400us, steps_repeated: 0}\n"},
      {"shares", "fabric: trio\n",
       "  - job: {name: a, hosts: [h0, h5], steps: 8, phases: [{f: {compute: 80us}}, {g: {all_reduce: {size: 64KiB}}}]}\n"
       "  - job: {name: b, hosts: [h1, h3], steps: 8, phases: [{f: {compute: 80us}}, {g: {all_reduce: {size: 64KiB}}}]}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 20}\n", "", "900us",
       "  - interference: {at_most: 300%, job: a}\n"},
      {"dies", "fabric: pair\n",
       "  - job: {name: a, hosts: all, steps: 900, phases: [{grads: {all_reduce: {size: 64KiB}}}]}\n",
       "  - write: {from: h0, to: h1, size: 4KiB, count: 10}\n",
       "  - {at: 300us, link_down: {link: \"h1:p*\"}}\n", "3ms",
       "  - job_dies: {by: Retry Counter Exceeded, within: 2700us}\n"},
      {"serves", "fabric: trio\n",
       "  - serve: {name: a, model: {preset: llama3-8b, blocks: 1}, prefill: {hosts: h0, token: 3200ns}, "
       "decode: {hosts: h5, step: 160us, spare: 8}, objective: {ttft: 30ms, tpot: 1ms}, "
       "requests: {rate: 250/s, count: 8, input: 100, output: 4}}\n",
       "  - write: {from: h0, to: h5, size: 64KiB, count: 20}\n", "", "2ms",
       "  - ttft: {at_most: 900us}\n  - tpot: {at_most: 100us}\n  - slo: {at_least: 100%}\n"},
  };
  return kStories;
}

Scenario scenario_of(const WholeStory& story, const char* work, const char* expect) {
  const std::string faults = *story.faults == '\0' ? "" : std::string("faults:\n") + story.faults;
  return parse_scenario(read_yaml_text(
      fmt::format("name: {}\n{}seed: 1\ncaptures: all\nworkload:\n{}{}end: {}\nexpect:\n{}",
                  story.name, story.head, work, faults, story.end, expect),
      story.name));
}
Scenario scenario_of(const WholeStory& story) {
  return scenario_of(story, story.work, story.expect);
}
/// The same expectations of other work. A reader refuses some of them; here the judge is asked.
Scenario scenario_of_once(const WholeStory& story) {
  Scenario scenario = scenario_of(story, story.once, "  - no_qp_error\n");
  scenario.expect = scenario_of(story).expect;
  return scenario;
}

/// What the judge finds in the simulated run; with `blind` it sees nothing of it.
analysis::Verdict judged(const Scenario& scenario, bool blind = false) {
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop());
  WorldOutcome outcome;
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run();
    outcome.hosts = simulation.hosts();
    outcome.jobs = simulation.jobs();
  }
  if (blind) {
    using analysis::Witness;
    for (const Witness witness : {Witness::kPackets, Witness::kRecords, Witness::kEvents}) {
      evidence.absent(witness, "it was cut");
    }
    outcome.hosts.hosts.pop_back();
    if (!outcome.jobs.empty()) outcome.jobs.pop_back();
  }
  evidence.finish();
  return analysis::judge(run_inputs(scenario, "sim", std::move(outcome)), evidence).verdict;
}

Scenario with_fault_at(Scenario scenario, const char* fault) {
  const std::string list = std::string("- ") + fault;
  NameResolver names(scenario.topology, scenario.seed);
  const auto more = faults::parse_faults(read_yaml_text(list, "test"), names);
  scenario.faults.insert(scenario.faults.end(), more.begin(), more.end());
  scenario.schedule = faults::compile(scenario.faults, scenario.topology);
  return scenario;
}

/// h5, or the last host of a smaller fabric, is out of reach from 600us on.
const char* cut(const Scenario& scenario) {
  return scenario.topology.host_count() > 5 ? "{at: 600us, link_down: {link: \"h5:p*\"}}"
                                            : "{at: 600us, link_down: {link: \"h1:p*\"}}";
}
const char* dead(const Scenario& scenario) {
  return scenario.topology.host_count() > 5 ? "{at: 600us, host_restart: {host: h5, down: 10ms}}"
                                            : "{at: 600us, host_restart: {host: h1, down: 10ms}}";
}

using WordSet = std::set<std::string_view>;

/// They ask whether something went wrong in the run, and have no window: what was sent was seen.
const WordSet kOfAnyRun{
    "placed_once", "no_silent_loss", "in_order",      "no_qp_error_while_a_path_lives",
    "accounted",   "no_qp_error",    "memory_intact", "counter"};
/// They ask of the packets that were sent, or of the fault before; not whether work ends.
const WordSet kOfPackets{"goodput",    "trims",         "share",  "path_unused",
                         "port_share", "lossless",      "pause",  "qp_error",
                         "detect",     "deadlock_free", "steady", "queues_empty"};
/// They measure from a fault.
const WordSet kOfFaults{"healed",       "detect",        "recover",         "leave",
                        "goodput_back", "evs_good",      "completion_time", "steady",
                        "queues_empty", "qp_error",      "path_unused",     "mapper_names",
                        "denied",       "allowed_again", "job_dies"};
/// A mapper sends probes of its own, and neighbours name themselves, whatever else is sent.
const WordSet kOfProbes{"mapper_names", "denied", "allowed_again", "orchestrator_names"};
/// An attack is a fault that sends, whatever the workload does.
const WordSet kOfAttacks{"datagrams", "dropped_for"};

WordSet both(WordSet words, const WordSet& more) {
  words.insert(more.begin(), more.end());
  return words;
}

struct Condition {
  const char* name;
  std::function<analysis::Verdict(const WholeStory&)> judge;
  /// Which expectations may pass all the same, and why: each is about something else, which was seen.
  const char* why;
  WordSet may_pass;
};

const std::vector<Condition>& conditions() {
  static const std::vector<Condition> kConditions{
      {"no traffic",
       [](const WholeStory& story) {
         Scenario scenario = scenario_of(story);
         scenario.workload.clear();
         return judged(scenario);
       },
       "a mapper's probes and an attack are sent all the same", both(kOfProbes, kOfAttacks)},
      {"traffic ends before the window",
       [](const WholeStory& story) { return judged(scenario_of_once(story)); },
       "what was sent before was seen, and queues are empty where all work has ended",
       both(kOfAnyRun, {"queues_empty", "deadlock_free", "mapper_names", "denied", "allowed_again",
                        "orchestrator_names", "isolated", "datagrams", "dropped_for"})},
      {"work begins after the end",
       [](const WholeStory& story) {
         Scenario scenario = scenario_of(story);
         for (endpoint::WorkloadSpec& spec : scenario.workload) {
           std::visit([&](auto& s) { s.at = scenario.end + FabricTime::from_us(10); }, spec);
         }
         return judged(scenario);
       },
       "a mapper's probes and an attack are sent all the same", both(kOfProbes, kOfAttacks)},
      {"an operation is open at the end",
       [](const WholeStory& story) {
         const Scenario scenario = scenario_of(story);
         return judged(with_fault_at(scenario, cut(scenario)));
       },
       "they ask of what was sent, not whether it ends",
       both(both(kOfAnyRun, kOfPackets), {"healed", "orchestrator_names", "denied", "isolated",
                                          "datagrams", "dropped_for", "job_alive", "job_dies"})},
      {"a peer is dead",
       [](const WholeStory& story) {
         const Scenario scenario = scenario_of(story);
         return judged(with_fault_at(scenario, dead(scenario)));
       },
       "they ask of what was sent, not whether it ends",
       both(both(kOfAnyRun, kOfPackets), {"mapper_names", "denied", "orchestrator_names",
                                          "isolated", "datagrams", "dropped_for"})},
      {"its source is cut",
       [](const WholeStory& story) { return judged(scenario_of(story), true); },
       "",
       {}},
      {"its interval is too fine",
       [](const WholeStory& story) {
         Scenario scenario = scenario_of(story);
         std::erase_if(scenario.expect, [](analysis::Expectation& expectation) {
           return std::visit(
               [](auto& e) {
                 if constexpr (requires { e.every; }) {
                   e.every = FabricTime::from_ps(100);
                   return false;
                 } else {
                   return true;
                 }
               },
               static_cast<analysis::ExpectationKind&>(expectation));
         });
         return judged(scenario);
       },
       "",
       {}},
      {"its fault never happens",
       [](const WholeStory& story) {
         Scenario scenario = scenario_of(story);
         scenario.expect = analysis::without_bundles(scenario.expect);
         std::erase_if(scenario.expect, [](const analysis::Expectation& expectation) {
           return !kOfFaults.contains(name_of(expectation));  // the others have no fault
         });
         for (faults::Fault& fault : scenario.faults)
           fault.at = scenario.end + FabricTime::from_us(10);
         scenario.schedule = faults::compile(scenario.faults, scenario.topology);
         return judged(scenario);
       },
       "",
       {}},
  };
  return kConditions;
}

}  // namespace

TEST_SUITE_BEGIN("whole run");

TEST_CASE("every expectation passes where it holds, and says what it looked at") {
  std::set<size_t> seen;
  for (const WholeStory& story : stories()) {
    INFO(std::string(story.name));
    const Scenario scenario = scenario_of(story);
    for (const analysis::Expectation& expectation : scenario.expect)
      seen.insert(expectation.index());
    for (const auto& expectation : analysis::without_bundles(scenario.expect)) {
      seen.insert(expectation.index());
    }
    for (const analysis::CheckResult& check : judged(scenario).checks) {
      INFO(check.about, ": ", check.note);
      CHECK(check.result == Result::kPass);
      CHECK((check.looked && check.looked->count() > 0));
    }
  }
  CHECK(seen.size() == std::variant_size_v<analysis::ExpectationKind>);
}

TEST_CASE("no expectation passes without its evidence") {
  size_t combinations = 0, passed = 0, failed = 0, inconclusive = 0;
  std::string table;
  for (const Condition& condition : conditions()) {
    size_t of_condition = 0, open = 0, wrong = 0;
    std::set<std::string_view> allowed;
    for (const WholeStory& story : stories()) {
      const analysis::Verdict verdict = condition.judge(story);
      for (const analysis::CheckResult& check : verdict.checks) {
        ++of_condition;
        open += check.result == Result::kInconclusive ? 1 : 0;
        wrong += check.result == Result::kFail ? 1 : 0;
        if (check.result != Result::kPass) continue;
        const auto entry = condition.may_pass.find(check.name);
        INFO(std::string(story.name), ", ", std::string(condition.name), ": ", check.about, ": ",
             check.looked ? to_string(*check.looked) : "", "; ", check.note);
        CHECK(entry != condition.may_pass.end());
        if (entry != condition.may_pass.end()) allowed.insert(*entry);
      }
    }
    // An exception that no check needs is one that a mistake could use.
    std::string unused;
    for (const std::string_view word : condition.may_pass) {
      if (!allowed.contains(word)) unused += " " + std::string(word);
    }
    CHECK_MESSAGE(unused.empty(), std::string(condition.name), ":", unused);
    table += fmt::format("{:<34} {:>3} checks: {:>2} inconclusive, {:>2} fail, {:>2} pass{}{}\n",
                         condition.name, of_condition, open, wrong, of_condition - open - wrong,
                         *condition.why == '\0' ? "" : ": ", condition.why);
    combinations += of_condition;
    inconclusive += open;
    failed += wrong;
    passed += of_condition - open - wrong;
  }
  MESSAGE(table, fmt::format("{} combinations: {} inconclusive, {} fail, {} pass", combinations,
                             inconclusive, failed, passed));
}

TEST_SUITE_END();

}  // namespace mrclab::lab
