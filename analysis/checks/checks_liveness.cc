// Steady before the first fault, and alive again after the last heal.

#include <algorithm>
#include <map>
#include <set>

#include "analysis/checks/judge.h"
#include "analysis/history/path_wires.h"
#include "analysis/measure/path_states.h"

namespace mrclab::analysis {
namespace {

/// Our choice: a port that is idle for a fifth of the time has no reason for a queue that stands.
constexpr uint64_t kBusyPercent = 80;
/// Our choice: a port that is idle for less than a twentieth of the time cannot work off its queue.
constexpr uint64_t kFullPercent = 95;
/// NSCC aims at a delay of 0.75 base RTT (UEC p. 390), so a queue of that
/// length may stand at a busy port.
constexpr int64_t kTargetPercent = 75;
/// Our choice: fewer packets than these, all of which waited, may have waited by chance.
constexpr uint32_t kEnoughPackets = 8;
/// METH, TSETH, RETH and the ICRC behind BTH (fabric/headers.h).
constexpr uint64_t kWriteHeaderBytes = kAfterBthOffset + 4 + 4 + 16 + kIcrcBytes;

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

}  // namespace

std::optional<FabricTime> Judge::last_heal() const {
  FabricTime last;
  for (const FaultSpan& fault : in_.faults) {
    if (fault.start == FabricTime::never()) continue;  // others held all that it would have broken
    if (!fault.healed()) return std::nullopt;
    last = std::max(last, fault.healed_at);
  }
  return last;
}

CheckResult Judge::operator()(const ExpectSteady&) const {
  CheckResult check;
  check.unit = "% variation";
  check.bound = 100 * kMaxBaselineVariation;
  const Baseline& baseline = in_.measurements.baseline;
  if (baseline.rate.bps > 0) check.measured = 100 * baseline.variation;
  if (!baseline.usable) return unjudged(check, baseline.why_not);
  return passed(check);
}

CheckResult Judge::operator()(const ExpectGoodputBack& expected) const {
  CheckResult check;
  const Measurements& m = in_.measurements;
  const FabricTime bound =
      expected.within > FabricTime::zero() ? expected.within : m.base_rtt * kLivenessRtts;
  check.unit = "us";
  check.bound = bound.us();
  const std::optional<FabricTime> heal = last_heal();
  if (in_.faults.empty()) {
    check.note = "there was no fault";
    return passed(check);
  }
  if (!heal) return unjudged(check, "not every fault was undone");
  if (work_lost())
    return unjudged(check, "queue pairs or hosts are gone, and their work with them");
  std::optional<FabricTime> back;
  if (m.baseline.usable) back = recovery_time(m, *heal, share_of(m.baseline.rate, expected.to));
  if (!back || *back > bound) {
    // Less than before need not be the faults' doing: the twin has none.
    if (in_.twin) {
      const GoodputMeter twin = in_.twin();
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
    return *back > bound ? failed(check, "later than the bound") : passed(check);
  }
  const std::string why = "goodput was not back at " + exact(expected.to) + " when the run ended";
  if (m.end - *heal < std::max(bound, m.window()))
    return unjudged(check, why + ", too early to say");
  return failed(check, why);
}

std::set<std::pair<uint32_t, Qpn>> Judge::dead_queue_pairs() const {
  std::set<std::pair<uint32_t, Qpn>> dead;
  for (const QpFailure& failure : in_.evidence.events().failures()) {
    dead.insert({failure.host, failure.qp});
  }
  // Toward a host that lost its power nothing comes back either.
  for (const HostReport& report : in_.hosts.hosts) {
    const auto node = in_.topology.find_node(report.host);
    for (const QueueReport& queue : report.queues) {
      if (node && lost_power(queue.peer, in_.measurements.end)) {
        dead.insert({in_.topology.node(*node).index, queue.qp});
      }
    }
  }
  return dead;
}

CheckResult Judge::operator()(const ExpectEvsGood& expected) const {
  CheckResult check;
  const Measurements& m = in_.measurements;
  const FabricTime bound =
      expected.within > FabricTime::zero() ? expected.within : m.base_rtt * kLivenessRtts;
  check.unit = "us";
  check.bound = bound.us();
  const std::optional<FabricTime> heal = last_heal();
  if (!heal) return unjudged(check, "not every fault was undone");
  const EventHistory& events = in_.evidence.events();
  if (!events.heard()) return unjudged(check, "there are no events");

  const std::set<std::pair<uint32_t, Qpn>> dead = dead_queue_pairs();
  std::vector<bool> without_power;
  for (uint32_t host = 0; host < in_.topology.host_count(); ++host) {
    without_power.push_back(lost_power(host, m.end));
  }
  const Denials denied = denials_at(in_.schedule, m.end);
  const auto name_of_value = [&](const PathStates::Key& key) {
    return host_name(key.host) + " " + qp_name(key.qp) + ": " +
           (key.ev && path_of(*key.ev) ? to_string(*path_of(*key.ev))
                                       : "plane " + std::to_string(key.plane));
  };
  PathStates states;
  FabricTime latest = *heal;  // the last return of a value that the faults had taken
  for (const PathNews& news : events.paths()) {
    if (dead.contains({news.host, news.qp}) || without_power[news.host]) continue;
    const PathStates::State before = states.take(news);
    const bool bad_by_fault = !before.usable && before.since <= *heal + m.window();
    if (news.usable && bad_by_fault && news.t > latest) {
      latest = news.t;
      check.where = {*heal, latest, name_of_value(PathStates::key_of(news))};
    }
  }
  uint64_t bad = 0;
  bool late = false;
  std::string first;
  for (const auto& [key, state] : states.all()) {
    if (state.usable) continue;
    if (state.denied && key.ev) {
      const auto still = denied.find({in_.topology.host(key.host), *key.ev});
      if (still != denied.end() && !still->second.empty()) continue;
    }
    ++bad;
    late = late || m.end - std::max(state.since, *heal) >= bound;
    if (first.empty()) {
      const std::string who = name_of_value(key);
      first = who + " is not usable since " + to_string(state.since);
      check.where = {state.since, m.end, who};
    }
  }
  if (bad > 0) {
    const std::string why = std::to_string(bad) + " values are not back; " + first;
    return late ? failed(check, why) : unjudged(check, why);
  }
  check.measured = (latest - *heal).us();
  if (latest - *heal > bound) return failed(check, "the last one came back later than the bound");
  return passed(check);
}

/// For each receiving host and plane: how busy its port was with the data packets that arrived in
/// [from, until), and the least that any of them waited on its way.
Judge::PortLoads Judge::port_loads(FabricTime from, FabricTime until) const {
  PortLoads ports;
  for (const Attempt& attempt : in_.history.attempts()) {
    const bool inside = attempt.ended >= from && attempt.ended < until;
    if (attempt.fate != Fate::kDelivered || !attempt.start_seen || !inside) continue;
    const Packet& packet = in_.history.packets()[attempt.packet];
    const Flow& flow = in_.history.flows()[packet.flow];
    const auto path = built_path(in_.topology, flow.source, flow.destination, attempt.ev);
    if (!path) continue;
    PortLoad& port = ports[{flow.destination, path->plane}];
    const Bytes length = wire_length({packet.payload + kWriteHeaderBytes});
    const FabricTime idle = idle_transit(
        in_.topology, wires_of(in_.topology, flow.source, flow.destination, *path), length);
    ++port.packets;
    port.busy += serialization_time(length, in_.topology.host_rate);
    port.least_wait = std::min(port.least_wait,
                               std::max(attempt.ended - attempt.start - idle, FabricTime::zero()));
  }
  return ports;
}

CheckResult Judge::operator()(const ExpectQueuesEmpty&) const {
  CheckResult check;
  const Measurements& m = in_.measurements;
  const PacketHistory& history = in_.history;
  if (history.counters().records == 0) return unjudged(check, "there is no record of packets");
  if (!in_.topology.carries_time())
    return unjudged(check, "switches that are not ours tell nothing");
  uint64_t open = 0, queues = 0;
  for (const HostReport& host : in_.hosts.hosts) {
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
    return judge_left_frames(std::move(check), from, queues);
  }
  if (in_.faults.empty()) {
    check.note = "there was no fault to leave a queue behind";
    return passed(check);
  }
  return judge_standing_queues(std::move(check), from);
}

/// All work has ended: no frame is left in a switch, but for a probe of each of `queues`.
CheckResult Judge::judge_left_frames(CheckResult check, FabricTime from, uint64_t queues) const {
  const Conservation& books = in_.evidence.conservation();
  if (!books.is_complete()) return unjudged(check, in_.coverage.why(Witness::kRecords));
  check.unit = "frames";
  check.bound = static_cast<double>(queues);
  uint64_t left = 0;
  for (const NodeSite& site : in_.topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    const Balance balance = books.inside(site.id);
    left += balance.taken - std::min(balance.taken, balance.accounted());
  }
  check.measured = static_cast<double>(left);
  check.note = "all work has ended";
  check.where = {from, in_.measurements.end, "switches"};
  return left > queues ? failed(check, "left in switches although all work has ended")
                       : passed(check);
}

/// Work goes on: of the packets since `from` at each host port, one at least waited no longer than
/// was usual before the faults.
CheckResult Judge::judge_standing_queues(CheckResult check, FabricTime from) const {
  const Measurements& m = in_.measurements;
  const PortLoads ports = port_loads(from, m.end);
  // What waited before the first fault is the workload's own, not what a fault left behind.
  const FabricTime first = first_fault();
  const PortLoads ports_before = port_loads(first - m.window(), first);
  const FabricTime unmarked =
      serialization_time(in_.topology.queues.ecn_min, in_.topology.host_rate);
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
    const FabricTime may_wait = busy ? std::max(unmarked, target) : unmarked;
    // One packet that meets no queue shows that none stands there; one that does is no proof.
    if (port.packets < kEnoughPackets && more > may_wait) continue;
    ++judged;
    // A port that sends all the time works off what the faults held up, as fast as its wire can.
    if (port.busy * 100 >= m.window() * static_cast<int64_t>(kFullPercent)) continue;
    if (more - may_wait <= longest - allowed) continue;
    longest = more;
    allowed = may_wait;
    where = host_name(place.first) + ":p" + std::to_string(place.second);
  }
  if (judged == 0) {
    return unjudged(check, "no port was used enough in the last 20 RTT");
  }
  check.measured = longest.us();
  check.bound = allowed.us();
  check.where = {from, m.end, where};
  if (longest > allowed)
    return failed(check, "every packet to " + where + " waits, more than before the first fault");
  check.note = std::to_string(judged) + " ports";
  return passed(check);
}

}  // namespace mrclab::analysis
