// Checks of how many packets there were: lost, trimmed, sent again, on a path; counters.

#include <algorithm>

#include "analysis/checks/judge.h"
#include "analysis/history/counter_names.h"
#include "fabric/path_list.h"
#include "fabric/path_pattern.h"
#include "fabric/pattern.h"

namespace mrclab::analysis {
namespace {

/// In the order of kCounterNames.
constexpr uint64_t HistoryCounters::*kCounters[] = {
    &HistoryCounters::sacks,           &HistoryCounters::nacks,
    &HistoryCounters::fatal_nacks,     &HistoryCounters::probes,
    &HistoryCounters::retransmissions, &HistoryCounters::trimmed,
    &HistoryCounters::dropped,         &HistoryCounters::dropped_control,
    &HistoryCounters::copies,          &HistoryCounters::duplicate_deliveries,
    &HistoryCounters::acks_ahead,      &HistoryCounters::rtx_bit_wrong,
    &HistoryCounters::refused};
static_assert(std::size(kCounters) == kCounterNames.size());

/// A number held against one or two bounds; the bound shown is the one that was broken, else the
/// upper one.
CheckResult judge_count(CheckResult check, uint64_t count, uint64_t at_least, uint64_t at_most,
                        const std::string& why) {
  check.measured = static_cast<double>(count);
  const bool floor = count < at_least || at_most == PacketBounds::kNoBound;
  check.bound = static_cast<double>(floor ? at_least : at_most);
  if (count < at_least || count > at_most) return failed(check, why);
  return passed(check);
}

bool on_path(const Attempt& attempt, const std::string& pattern) {
  const auto path = path_of(attempt.ev);
  return path && matches_pattern(pattern, to_string(*path));
}

}  // namespace

bool in_plane(const Attempt& attempt, uint32_t plane) {
  const auto path = path_of(attempt.ev);
  return path && path->plane == plane;
}

bool Judge::names_a_path(const std::string& pattern) const {
  for (const Path path : all_paths(in_.topology)) {
    if (matches_pattern(pattern, to_string(path))) return true;
  }
  return false;
}

std::string Judge::packet_name(const Attempt& attempt) const {
  const Packet& packet = in_.history.packets()[attempt.packet];
  const auto path = path_of(attempt.ev);
  return flow_name(packet.flow) + " PSN " + std::to_string(packet.psn.value()) +
         (path ? " on " + to_string(*path) : "");
}

PacketToLookAt Judge::to_look_at(const Packet& packet) const {
  const Flow& flow = in_.history.flows()[packet.flow];
  return {host_name(flow.source), host_name(flow.destination), flow.destination_qp, packet.psn};
}

WhereToLook Judge::at_packet(const Packet& packet) const {
  WhereToLook where{FabricTime::zero(), FabricTime::zero(),
                    flow_name(packet.flow) + " PSN " + std::to_string(packet.psn.value()),
                    to_look_at(packet)};
  for (uint32_t at = packet.last; at != Attempt::kNone; at = in_.history.attempts()[at].previous) {
    const Attempt& attempt = in_.history.attempts()[at];
    where.from = attempt.start;  // the first attempt comes last
    const FabricTime ended =
        attempt.ended == FabricTime::never() ? in_.measurements.end : attempt.ended;
    where.until = std::max(where.until, ended);
  }
  if (packet.last != Attempt::kNone) {
    where.who = packet_name(in_.history.attempts()[packet.last]);
  }
  if (packet.acknowledged != FabricTime::never()) {
    where.until = std::max(where.until, packet.acknowledged);
  }
  return where;
}

CheckResult Judge::count_attempts(
    const PacketBounds& expected,
    const std::function<std::optional<FabricTime>(const Attempt&)>& when) const {
  CheckResult check;
  check.unit = "packets";
  const FabricTime until = end_of(expected.until);
  check.where = {expected.from, until, {}};
  if (expected.from >= until) return unjudged(check, "the run ends before this interval");
  const std::vector<bool> flows = selected(expected.flows);
  if (std::find(flows.begin(), flows.end(), true) == flows.end()) {
    return unjudged(check, "no such QP sent any data");
  }
  uint64_t count = 0, settled_count = 0;
  const FabricTime settled_until = settled();
  std::string first;
  std::optional<PacketToLookAt> packet;
  for (const Attempt& attempt : in_.history.attempts()) {
    const std::optional<FabricTime> t = when(attempt);
    if (!t || *t < expected.from || *t >= until) continue;
    if (!flows[in_.history.packets()[attempt.packet].flow]) continue;
    if (expected.flows.plane && !in_plane(attempt, *expected.flows.plane)) continue;
    settled_count += *t < settled_until ? 1 : 0;
    if (count++ > 0) continue;
    first = packet_name(attempt) + " at " + to_string(*t);
    packet = to_look_at(in_.history.packets()[attempt.packet]);
  }
  check.where->who = first;
  check.where->packet = packet;
  check.proven = settled_count > expected.at_most;
  return judge_count(check, count, expected.at_least, expected.at_most,
                     count == 0 ? "there was none" : "among them " + first);
}

CheckResult Judge::operator()(const ExpectLosses& expected) const {
  return count_attempts(expected, [](const Attempt& a) -> std::optional<FabricTime> {
    if (!a.lost()) return std::nullopt;
    return a.ended;
  });
}

CheckResult Judge::operator()(const ExpectTrims& expected) const {
  return count_attempts(expected, [](const Attempt& a) -> std::optional<FabricTime> {
    if (!a.trimmed) return std::nullopt;
    return a.ended;
  });
}

CheckResult Judge::operator()(const ExpectRetransmissions& expected) const {
  return count_attempts(expected, [](const Attempt& a) -> std::optional<FabricTime> {
    if (a.attempt == 0) return std::nullopt;
    return a.start;
  });
}

CheckResult Judge::operator()(const ExpectShare& expected) const {
  __extension__ using Wide = unsigned __int128;
  CheckResult check;
  check.unit = "% of packets";
  const FabricTime until = end_of(expected.until);
  check.where = {expected.from, until, expected.path};
  if (!names_a_path(expected.path)) return unjudged(check, "the fabric has no such path");
  const std::vector<bool> flows = selected(expected.flows);
  uint64_t all = 0, there = 0;
  for (const Attempt& attempt : in_.history.attempts()) {
    if (attempt.attempt > 0 || attempt.start < expected.from || attempt.start >= until) continue;
    if (!flows[in_.history.packets()[attempt.packet].flow]) continue;
    if (expected.flows.plane && !in_plane(attempt, *expected.flows.plane)) continue;
    ++all;
    if (on_path(attempt, expected.path)) ++there;
  }
  if (all == 0) return unjudged(check, "nothing was sent in this interval");
  check.measured = 100.0 * static_cast<double>(there) / static_cast<double>(all);
  const Wide part = Wide{there} * Probability::kOne;
  const bool too_few = part < Wide{all} * expected.at_least.ppb;
  const bool floor = too_few || expected.at_most.ppb == Probability::kOne;
  check.bound = percent_of(floor ? expected.at_least : expected.at_most);
  check.note = std::to_string(there) + " of " + std::to_string(all) + " packets";
  if (too_few || part > Wide{all} * expected.at_most.ppb) return failed(check, check.note);
  return passed(check);
}

CheckResult Judge::operator()(const ExpectPathUnused& expected) const {
  const PacketBounds bounds{0, expected.at_most, expected.from, expected.until, expected.flows};
  if (!names_a_path(expected.path)) return unjudged({}, "the fabric has no such path");
  CheckResult check = count_attempts(bounds, [&](const Attempt& a) -> std::optional<FabricTime> {
    if (!on_path(a, expected.path)) return std::nullopt;
    return a.start;
  });
  if (check.where && check.where->who.empty()) check.where->who = expected.path;
  return check;
}

CheckResult Judge::operator()(const ExpectCounter& expected) const {
  CheckResult check;
  check.unit = "packets";
  const HistoryCounters& counters = in_.history.counters();
  if (counters.records == 0) return unjudged(check, "there is no capture to count in");
  check.where = whole_run(expected.name);
  for (size_t i = 0; i < kCounterNames.size(); ++i) {
    if (kCounterNames[i] != expected.name) continue;
    return judge_count(check, counters.*kCounters[i], expected.at_least, expected.at_most, "");
  }
  return unjudged(check, "there is no such counter");
}

}  // namespace mrclab::analysis
