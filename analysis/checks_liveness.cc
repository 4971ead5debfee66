// Steady before the first fault, and alive again after the last heal.

#include <algorithm>
#include <map>
#include <set>

#include "analysis/judge.h"
#include "analysis/path_wires.h"

namespace mrclab::analysis {
namespace {

/// Our choice: a port that is idle for a fifth of the time has no reason for a queue that stands.
constexpr uint64_t kBusyPercent = 80;
/// Fewer packets in the window say nothing about what waits there.
constexpr uint32_t kEnoughPackets = 8;
/// METH, TSETH, RETH and the ICRC behind BTH (fabric/headers.h).
constexpr uint64_t kWriteHeaderBytes = kAfterBthOffset + 4 + 4 + 16 + kIcrcBytes;

/// One entropy value (or all of a plane) of one queue pair.
using PathKey = std::tuple<uint32_t, Qpn, uint32_t, std::optional<EntropyValue>>;

/// The last thing that was said about it.
struct PathState {
  FabricTime since;
  bool usable = true;
  bool denied = false;
};

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
  if (!m.baseline.usable) return unjudged(check, m.baseline.why_not);
  const std::optional<FabricTime> back =
      recovery_time(m, *heal, share_of(m.baseline.rate, expected.to));
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
  if (events.over_limit() > 0) return unjudged(check, "more events than can be kept");

  std::set<std::pair<uint32_t, Qpn>> dead;
  for (const QpFailure& failure : events.failures()) dead.insert({failure.host, failure.qp});
  // Toward a host that lost its power nothing comes back either.
  for (const HostReport& report : in_.hosts.hosts) {
    const auto node = in_.topology.find_node(report.host);
    for (const QueueReport& queue : report.queues) {
      if (node && lost_power(queue.peer, m.end)) {
        dead.insert({in_.topology.node(*node).index, queue.qp});
      }
    }
  }
  std::vector<bool> without_power;
  for (uint32_t host = 0; host < in_.topology.host_count(); ++host) {
    without_power.push_back(lost_power(host, m.end));
  }
  std::map<std::pair<NodeId, EntropyValue>, std::set<NodeId>> denied;  // to the end, toward whom
  for (const ScheduledEffect& scheduled : in_.schedule) {
    if (scheduled.at > m.end) continue;
    if (const auto* denial = std::get_if<EvDenial>(&scheduled.effect)) {
      std::set<NodeId>& toward = denied[{denial->host, denial->ev}];
      if (denial->denied) {
        toward.insert(denial->toward);
      } else {
        toward.erase(denial->toward);
      }
    }
  }
  const auto name_of_value = [&](const PathKey& key) {
    const auto& [host, qp, plane, ev] = key;
    return host_name(host) + " " + qp_name(qp) + ": " +
           (ev && path_of(*ev) ? to_string(*path_of(*ev)) : "plane " + std::to_string(plane));
  };
  std::map<PathKey, PathState> states;
  FabricTime latest = *heal;  // the last return of a value that the faults had taken
  for (const PathNews& news : events.paths()) {
    if (dead.contains({news.host, news.qp}) || without_power[news.host]) continue;
    if (!news.ev && news.usable) {
      // A plane that comes back starts with all its values GOOD; of each of them nobody says so.
      for (auto& [key, value] : states) {
        const auto& [host, qp, plane, ev] = key;
        const bool of_it = host == news.host && qp == news.qp && plane == news.plane && ev;
        if (of_it && !value.denied) value.usable = true;
      }
    }
    PathState& state = states[{news.host, news.qp, news.plane, news.ev}];
    const bool bad_by_fault = !state.usable && state.since <= *heal + m.window();
    if (news.usable && bad_by_fault && news.t > latest) {
      latest = news.t;
      check.where = {*heal, latest, name_of_value({news.host, news.qp, news.plane, news.ev})};
    }
    if (state.usable != news.usable) state.since = news.t;
    state.usable = news.usable;
    state.denied = news.denied;
  }
  uint64_t bad = 0;
  bool late = false;
  std::string first;
  for (const auto& [key, state] : states) {
    const auto& [host, qp, plane, ev] = key;
    if (state.usable) continue;
    if (state.denied && ev) {
      const auto still = denied.find({in_.topology.host(host), *ev});
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

CheckResult Judge::operator()(const ExpectQueuesEmpty&) const {
  CheckResult check;
  const Measurements& m = in_.measurements;
  const PacketHistory& history = in_.history;
  if (history.counters().records == 0) return unjudged(check, "there is no record of packets");
  if (!in_.topology.carries_time())
    return unjudged(check, "switches that are not ours tell nothing");
  const Conservation& books = in_.evidence.conservation();
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
      std::any_of(history.transmissions().begin(), history.transmissions().end(),
                  [&](const Attempt& attempt) { return attempt.start >= from; });
  if (queues > 0 && open == 0 && !sent_lately && books.is_complete()) {
    check.unit = "frames";
    check.bound = static_cast<double>(queues);  // a probe of each may be on its way
    uint64_t left = 0;
    for (const NodeSite& site : in_.topology.nodes) {
      if (site.role == NodeRole::kHost) continue;
      const Balance balance = books.inside(site.id);
      left += balance.taken - std::min(balance.taken, balance.accounted());
    }
    check.measured = static_cast<double>(left);
    check.note = "all work has ended";
    check.where = {from, m.end, "switches"};
    return left > queues ? failed(check, "left in switches although all work has ended")
                         : passed(check);
  }

  struct PortLoad {
    uint32_t packets = 0;
    FabricTime busy;
    FabricTime least_wait = FabricTime::never();
  };
  std::map<std::pair<uint32_t, uint32_t>, PortLoad> ports;  // by receiving host and plane
  for (const Attempt& attempt : history.transmissions()) {
    if (attempt.fate != Fate::kDelivered || !attempt.start_seen || attempt.ended < from) continue;
    const Packet& packet = history.packets()[attempt.packet];
    const Flow& flow = history.flows()[packet.flow];
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
  const FabricTime allowed =
      serialization_time(in_.topology.queues.ecn_min, in_.topology.host_rate);
  check.unit = "us of waiting";
  check.bound = allowed.us();
  FabricTime longest;
  uint32_t judged = 0;
  std::string where;
  for (const auto& [place, port] : ports) {
    const bool busy = port.busy * 100 >= m.window() * static_cast<int64_t>(kBusyPercent);
    if (port.packets < kEnoughPackets || busy) continue;
    ++judged;
    if (port.least_wait <= longest) continue;
    longest = port.least_wait;
    where = host_name(place.first) + ":p" + std::to_string(place.second);
  }
  if (judged == 0) {
    return unjudged(check, "no port was both used and idle for a fifth of the last 20 RTT");
  }
  check.measured = longest.us();
  check.where = {from, m.end, where};
  if (longest > allowed) return failed(check, "every packet to " + where + " waits");
  check.note = std::to_string(judged) + " ports";
  return passed(check);
}

}  // namespace mrclab::analysis
