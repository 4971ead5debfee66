#include "analysis/expect/expect_liveness.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/capture/flat_index.h"
#include "analysis/checks/expectation_rules.h"
#include "analysis/measure/path_states.h"
#include "analysis/measure/port_load.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

/// Our choice: a port that is idle for a fifth of the time has no reason for a standing queue.
constexpr uint64_t kBusyPercent = 80;
/// Our choice: a port that is idle for less than a twentieth of the time cannot work off its queue.
constexpr uint64_t kFullPercent = 95;
/// NSCC aims at a delay of 0.75 base RTT (UEC p. 390), so a queue of that
/// length may stand at a busy port.
constexpr int64_t kTargetPercent = 75;
/// Our choice: fewer packets than these, all of which waited, may have waited by chance.
constexpr uint32_t kEnoughPackets = 8;
constexpr std::string_view kNoFault = "no fault happened, so nothing had to come back";
/// The entropy values that the operator denies: by host and value, the hosts toward which.
using Denials = std::map<std::pair<NodeId, EntropyValue>, std::set<NodeId>>;

Denials denials_at(std::span<const ScheduledEffect> schedule, FabricTime end) {
  Denials denied;
  for (const ScheduledEffect& scheduled : schedule) {
    const auto* denial = std::get_if<EvDenial>(&scheduled.effect);
    if (denial == nullptr || scheduled.at > end) continue;
    std::set<NodeId>& toward = denied[{denial->host, denial->ev}];
    if (denial->denied) {
      toward.insert(denial->toward);
    } else {
      toward.erase(denial->toward);
    }
  }
  return denied;
}

CheckResult judge(const ExpectSteady&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% variation";
  check.bound = 100 * kMaxBaselineVariation;
  const Baseline& baseline = run.measurements.baseline;
  if (baseline.rate.bps > 0) check.measured = 100 * baseline.variation;
  if (!baseline.usable) return unjudged(check, baseline.why_not);
  const FabricTime fault = run.first_fault();
  return passed(check, run.arrived(fault - run.measurements.window(), fault));
}

bool sent_after(const JudgedRun& run, FabricTime t) {
  const auto attempts = run.history.attempts();
  return std::any_of(attempts.begin(), attempts.end(),
                     [t](const Attempt& attempt) { return attempt.start >= t; });
}

CheckResult judge(const ExpectHealed&, const JudgedRun& run) {
  CheckResult check;
  check.unit = "faults open";
  check.bound = 0;
  size_t open = 0;
  uint64_t looked = 0;
  std::string why, unsure;
  for (size_t i = 0; i < run.faults.size(); ++i) {
    if (!run.faults[i].heals) continue;  // meant to last
    if (!run.has_begun(run.faults[i])) continue;
    const bool seen = sent_after(run, run.faults[i].healed_at);
    looked += seen ? 1 : 0;
    if (!seen && unsure.empty()) unsure = run.fault_name(i) + ": nothing was sent after the heal";
    const FaultMeasurement& m = run.measurements.faults[i];
    const size_t missing = m.unused.size();
    if (!run.faults[i].healed()) {
      ++open;
      if (why.empty()) {
        why = run.fault_name(i) + " was not undone";
        check.where = run.around(run.faults[i], FabricTime::zero());
      }
    } else if (missing > 0 && run.work_lost()) {
      if (unsure.empty())
        unsure = run.fault_name(i) + ": not all wires are usable again, nor all work done";
    } else if (missing > 0) {
      ++open;
      if (why.empty()) {
        why = run.fault_name(i) + ": " + std::to_string(missing) + " of " +
              counted_noun(m.wires_to_regain, "wire") + " without traffic after the heal";
        check.where = {run.faults[i].healed_at, run.measurements.end, run.fault_name(i)};
      }
    } else if (!m.unjudged.empty() && unsure.empty()) {
      unsure = run.fault_name(i) + ": too little was sent after the heal to use all its paths";
    }
  }
  check.measured = static_cast<double>(open);
  check.looked =
      run.of_whole_run(looked, {"fault that heals", "faults that heal"}, Source::kPackets);
  if (open > 0) return failed(check, why);
  if (!unsure.empty()) return unjudged(check, unsure);
  return passed(check, *check.looked);
}

FabricTime bound_of(FabricTime within, const Measurements& m) {
  return within > FabricTime::zero() ? within : m.base_rtt * kLivenessRtts;
}

CheckResult bounded_by(FabricTime bound) {
  CheckResult check;
  check.unit = "us";
  check.bound = bound.us();
  return check;
}

CheckResult judge(const ExpectGoodputBack& expected, const JudgedRun& run) {
  const Measurements& m = run.measurements;
  const FabricTime bound = bound_of(expected.within, m);
  CheckResult check = bounded_by(bound);
  const std::optional<FabricTime> heal = run.last_heal();
  if (run.faults_begun() == 0) return unjudged(check, std::string(kNoFault));
  if (!heal) return unjudged(check, "not every fault was undone");
  if (run.work_lost())
    return unjudged(check, "queue pairs or hosts are gone, and their work with them");
  std::optional<FabricTime> back;
  if (m.baseline.usable) back = recovery_time(m, *heal, share_of(m.baseline.rate, expected.to));
  if (!back || *back > bound) {
    // Less than before need not be the faults' doing: the twin has none.
    if (run.twin) {
      const GoodputMeter twin = run.twin().goodput;
      if (twin.bytes_between(*heal, m.end).value == 0)
        return unjudged(check, "without faults nothing is delivered after the heal either");
      back = recovery_time(m, *heal, twin, expected.to);
      check.note = "held against the same run without faults";
    } else if (!m.baseline.usable) {
      return unjudged(check, m.baseline.why_not);
    }
  }
  check.where = {*heal, back ? *heal + *back : m.end, {}};
  if (back) {
    check.measured = back->us();
    check.looked = run.arrived(*heal, m.end);
    return *back > bound ? failed(check, "later than the bound") : passed(check, *check.looked);
  }
  const std::string why = "goodput was not back at " + exact(expected.to) + " when the run ended";
  if (m.end - *heal < std::max(bound, m.window()))
    return unjudged(check, why + ", too early to judge");
  return failed(check, why);
}

/// Queue pairs, as (host, QP), whose work ended: they failed, or their peer lost its power.
std::set<std::pair<uint32_t, Qpn>> dead_queue_pairs(const JudgedRun& run) {
  std::set<std::pair<uint32_t, Qpn>> dead;
  for (const QpFailure& failure : run.evidence.events().failures()) {
    dead.insert({failure.host, failure.qp});
  }
  // Toward a host that lost its power nothing comes back either.
  for (const HostReport& report : run.hosts.hosts) {
    const auto node = run.topology.find_node(report.host);
    for (const QueueReport& queue : report.queues) {
      if (node && run.lost_power(queue.peer, run.measurements.end)) {
        dead.insert({run.topology.node(*node).index, queue.qp});
      }
    }
  }
  return dead;
}

std::string name_of_value(const JudgedRun& run, const PathStates::Key& key) {
  return run.host_name(key.host) + " " + qp_name(key.qp) + ": " +
         (key.ev && path_of(*key.ev) ? to_string(*path_of(*key.ev))
                                     : "plane " + std::to_string(key.plane));
}

/// The states of entropy values that hosts reported, up to the end of the run.
struct ValuesAtTheEnd {
  PathStates states;
  FabricTime latest;  ///< the last return of a value that the faults had taken; else the heal
  std::string who;    ///< that value; empty if none returned behind the heal
};
ValuesAtTheEnd values_at_the_end(const JudgedRun& run, FabricTime heal) {
  const std::set<std::pair<uint32_t, Qpn>> dead = dead_queue_pairs(run);
  std::vector<bool> without_power;
  for (uint32_t host = 0; host < run.topology.host_count(); ++host) {
    without_power.push_back(run.lost_power(host, run.measurements.end));
  }
  ValuesAtTheEnd values;
  values.latest = heal;
  for (const PathNews& news : run.evidence.events().paths()) {
    if (dead.contains({news.host, news.qp}) || without_power[news.host]) continue;
    const PathStates::State before = values.states.take(news);
    const bool bad_by_fault = !before.usable && before.since <= heal + run.measurements.window();
    if (news.usable && bad_by_fault && news.t > values.latest) {
      values.latest = news.t;
      values.who = name_of_value(run, PathStates::key_of(news));
    }
  }
  return values;
}

/// How many entropy values have a known state behind the first fault: hosts reported it, or sent data with them and
/// reported nothing (then GOOD). Without any capture each queue pair with work counts as one.
uint64_t known_values(const JudgedRun& run, const PathStates& reported) {
  if (run.history.counters().records == 0) return run.used_queue_pairs().count();
  const FabricTime fault = run.first_fault();
  FlatIndex used(run.history.attempts().size());  // by flow and value
  for (const Attempt& attempt : run.history.attempts()) {
    if (attempt.start < fault) continue;
    const uint64_t flow = run.history.packets()[attempt.packet].flow;
    used.find_or_add(flow << 32 | attempt.ev.value, 0);
  }
  return std::max<uint64_t>(used.size(), reported.all().size());
}

CheckResult judge(const ExpectEvsGood& expected, const JudgedRun& run) {
  const Measurements& m = run.measurements;
  const FabricTime bound = bound_of(expected.within, m);
  CheckResult check = bounded_by(bound);
  const std::optional<FabricTime> heal = run.last_heal();
  if (run.faults_begun() == 0) return unjudged(check, std::string(kNoFault));
  if (!heal) return unjudged(check, "not every fault was undone");
  if (!run.evidence.events().heard()) return unjudged(check, "there are no events");

  const ValuesAtTheEnd values = values_at_the_end(run, *heal);
  if (!values.who.empty()) check.where = {*heal, values.latest, values.who};
  const Denials denied = denials_at(run.schedule, m.end);
  uint64_t bad = 0;
  bool late = false;
  std::string first;
  for (const auto& [key, state] : values.states.all()) {
    if (state.usable) continue;
    if (state.denied && key.ev) {
      const auto still = denied.find({run.topology.host(key.host), *key.ev});
      if (still != denied.end() && !still->second.empty()) continue;
    }
    ++bad;
    late = late || m.end - std::max(state.since, *heal) >= bound;
    if (first.empty()) {
      const std::string who = name_of_value(run, key);
      first = who + " is not usable since " + to_string(state.since);
      check.where = {state.since, m.end, who};
    }
  }
  if (bad > 0) {
    const std::string why = counted_noun(bad, {"value is", "values are"}) + " not back; " + first;
    return late ? failed(check, why) : unjudged(check, why);
  }
  check.measured = (values.latest - *heal).us();
  if (values.latest - *heal > bound) {
    return failed(check, "the last one came back later than the bound");
  }
  return passed(
      check, run.of_whole_run(known_values(run, values.states), "entropy value", Source::kEvents));
}

/// All work has ended: no frame is left in a switch, but for a probe of each of `queues`.
CheckResult judge_left_frames(const JudgedRun& run, CheckResult check, FabricTime from,
                              uint64_t queues) {
  const Conservation& books = run.evidence.conservation();
  if (!books.is_complete()) return unjudged(check, run.coverage.why(Witness::kRecords));
  check.unit = "frames";
  check.bound = static_cast<double>(queues);
  uint64_t left = 0;
  for (const NodeSite& site : run.topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    const Balance balance = books.inside(site.id);
    left += balance.taken - std::min(balance.taken, balance.accounted());
  }
  check.measured = static_cast<double>(left);
  check.note = "all work has ended";
  check.where = {from, run.measurements.end, "switches"};
  // A run that sent only probes filled no queue, so its records are no evidence here.
  check.looked = run.of_whole_run(run.history.attempts().empty() ? 0 : books.records(),
                                  "packet record", Source::kRecords);
  return left > queues ? failed(check, "left in switches although all work has ended")
                       : passed(check, *check.looked);
}

/// Work goes on: of the packets since `from` at each host port, one at least waited no longer than
/// was usual before the faults.
CheckResult judge_standing_queues(const JudgedRun& run, CheckResult check, FabricTime from) {
  const Measurements& m = run.measurements;
  const PortLoads ports = port_loads(run.topology, run.history, from, m.end);
  // What waited before the first fault is the workload's own, not what a fault left behind.
  const FabricTime first = run.first_fault();
  const PortLoads ports_before = port_loads(run.topology, run.history, first - m.window(), first);
  // Switches mark no packet of a queue up to there, so no sender slows down for it. RoCE's queue has its own threshold.
  const auto unmarked_of = [&](bool roce) {
    const QueueProfile& queues = run.topology.queues;
    return serialization_time(roce ? queues.red_min : queues.ecn_min, run.topology.host_rate);
  };
  const FabricTime unmarked = unmarked_of(false);
  const FabricTime target = m.base_rtt * kTargetPercent / 100;
  check.unit = "us of waiting";
  check.bound = unmarked.us();
  FabricTime longest, allowed = unmarked;
  uint32_t judged = 0;
  std::string where;
  for (const auto& [place, port] : ports) {
    const auto before = ports_before.find(place);
    const bool known = before != ports_before.end() && before->second.packets >= kEnoughPackets;
    const bool busy = port.busy * 100 >= m.window() * static_cast<int64_t>(kBusyPercent);
    if (!known && busy) continue;
    const FabricTime usual = known ? before->second.least_wait : FabricTime::zero();
    const FabricTime more = std::max(port.least_wait - usual, FabricTime::zero());
    const FabricTime may_wait =
        std::max(unmarked_of(port.roce), busy ? target : FabricTime::zero());
    // One packet that meets no queue shows that none stands there; one that does is no proof.
    if (port.packets < kEnoughPackets && more > may_wait) continue;
    ++judged;
    // A path that is full all the time drains what the faults held up, at the rate of its wires. (Two flows of RoCE
    // that a hash put on one uplink keep it full for ever, and with it their queue: their own ports need not be.)
    if (port.busy * 100 >= m.window() * static_cast<int64_t>(kFullPercent)) continue;
    if (more - may_wait <= longest - allowed) continue;
    longest = more;
    allowed = may_wait;
    where = run.host_name(place.first) + ":p" + std::to_string(place.second);
  }
  if (judged == 0) {
    return unjudged(check, "no port was used enough in the last 20 RTT");
  }
  check.measured = longest.us();
  check.bound = allowed.us();
  check.where = {from, m.end, where};
  if (longest > allowed)
    return failed(check, "every packet to " + where + " waits, more than before the first fault");
  return passed(check, {judged, "host port", from, m.end, Source::kPackets});
}

CheckResult judge(const ExpectQueuesEmpty&, const JudgedRun& run) {
  CheckResult check;
  const Measurements& m = run.measurements;
  const PacketHistory& history = run.history;
  if (history.counters().records == 0) return unjudged(check, "there is no record of packets");
  if (!run.topology.carries_time())
    return unjudged(check, "switches that are not ours write no records");
  uint64_t open = 0, queues = 0;
  for (const HostReport& host : run.hosts.hosts) {
    for (const QueueReport& queue : host.queues) {
      ++queues;
      if (!queue.in_error)
        open += queue.posted - std::min(queue.posted, queue.completed + queue.failed);
    }
  }
  const FabricTime from = m.end - m.window();
  const bool sent_lately =
      std::any_of(history.attempts().begin(), history.attempts().end(),
                  [&](const Attempt& attempt) { return attempt.start >= from; });
  if (queues > 0 && open == 0 && !sent_lately) {
    return judge_left_frames(run, std::move(check), from, queues);
  }
  if (run.faults_begun() == 0) {
    return unjudged(check, "there was no fault to leave a queue behind, and work goes on");
  }
  return judge_standing_queues(run, std::move(check), from);
}

CheckResult judge(const ExpectLiveness&, const JudgedRun&) { return unjudged({}, "a bundle"); }

}  // namespace

const Rules<ExpectSteady>& rules_of(const ExpectSteady&) {
  static constexpr Rules<ExpectSteady> kRules{
      .sentence = [](const ExpectSteady&, const Wording& in) -> std::string {
        return "variation of goodput before the first fault" +
               in.at_most(std::to_string(static_cast<int>(100 * kMaxBaselineVariation)) + " %");
      },
      .evidence = [](const ExpectSteady&, const CheckedSpan& span) -> Reliances {
        return {span.packets_until(span.first_fault)};
      },
      .early_end = [](const ExpectSteady&, const EarlyResult& result) { return result.check(); },
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectLiveness>& rules_of(const ExpectLiveness&) {
  static constexpr Rules<ExpectLiveness> kRules{
      .sentence = [](const ExpectLiveness& e, const Wording& in) -> std::string {
        return "liveness" + in.within(e.within);
      },
      .evidence = needs<ExpectLiveness>,
      .early_end = when_alive_again<ExpectLiveness>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectHealed>& rules_of(const ExpectHealed&) {
  static constexpr Rules<ExpectHealed> kRules{
      .sentence = [](const ExpectHealed&, const Wording& in) -> std::string {
        return "faults not healed at the end" + in.at_most("0");
      },
      // A path that carries nothing may still be usable: then the hosts' events and reports decide.
      .evidence = needs<ExpectHealed, Witness::kPackets, Witness::kReports, Witness::kEvents>,
      .early_end =
          [](const ExpectHealed&, const EarlyResult& result) {
            // A path that was not used again by now may still be used later.
            if (result.check().result != Result::kPass) {
              return result.inconclusive("still open at " + result.at());
            }
            return result.more_to_heal() ? result.inconclusive("faults begin after " + result.at())
                                         : result.check();
          },
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectGoodputBack>& rules_of(const ExpectGoodputBack&) {
  static constexpr Rules<ExpectGoodputBack> kRules{
      .sentence = [](const ExpectGoodputBack& e, const Wording& in) -> std::string {
        return "goodput back at " + in.share(e.to) + " of baseline after the last heal" +
               in.within(e.within);
      },
      .evidence = needs<ExpectGoodputBack, Witness::kPackets, Witness::kReports>,
      .early_end = when_alive_again<ExpectGoodputBack>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectEvsGood>& rules_of(const ExpectEvsGood&) {
  static constexpr Rules<ExpectEvsGood> kRules{
      .sentence = [](const ExpectEvsGood& e, const Wording& in) -> std::string {
        return "entropy values usable after the last heal" + in.within(e.within);
      },
      .evidence = needs<ExpectEvsGood, Witness::kReports, Witness::kEvents>,
      .early_end = when_alive_again<ExpectEvsGood>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectQueuesEmpty>& rules_of(const ExpectQueuesEmpty&) {
  static constexpr Rules<ExpectQueuesEmpty> kRules{
      .sentence = [](const ExpectQueuesEmpty&, const Wording&) -> std::string {
        return "standing queue at the end";
      },
      // Packet records are needed only where all work has ended; the check itself asks for them.
      .evidence = needs<ExpectQueuesEmpty, Witness::kPackets, Witness::kReports>,
      .early_end = when_alive_again<ExpectQueuesEmpty>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
