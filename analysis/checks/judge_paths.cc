#include "analysis/expect/expect_paths.h"

#include <algorithm>
#include <map>

#include "analysis/checks/expectation_rules.h"
#include "fabric/paths/path_list.h"
#include "fabric/paths/path_pattern.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/pattern.h"

namespace mrclab::analysis {
namespace {

__extension__ using Wide = unsigned __int128;

bool on_path(const Attempt& attempt, const std::string& pattern) {
  const auto path = path_of(attempt.ev);
  return path && matches_pattern(pattern, to_string(*path));
}

bool names_a_path(const JudgedRun& run, const std::string& pattern) {
  for (const Path path : all_paths(run.topology)) {
    if (matches_pattern(pattern, to_string(path))) return true;
  }
  return false;
}

/// `there` of `all`, which is not zero, against the two bounds of an expectation.
CheckResult judge_share(const auto& expected, CheckResult check, uint64_t there, uint64_t all,
                        const Looked& looked) {
  check.looked = looked;
  check.measured = 100.0 * static_cast<double>(there) / static_cast<double>(all);
  const Wide part = Wide{there} * Probability::kOne;
  const bool too_few = part < Wide{all} * expected.at_least.ppb;
  const bool floor = too_few || expected.at_most.ppb == Probability::kOne;
  check.bound = percent_of(floor ? expected.at_least : expected.at_most);
  check.note = std::to_string(there) + " of " + counted_noun(all, "packet");
  if (too_few || part > Wide{all} * expected.at_most.ppb) return failed(check, check.note);
  return passed(check, looked);
}

CheckResult judge(const ExpectShare& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% of packets";
  const FabricTime until = run.end_of(expected.until);
  check.where = {expected.from, until, expected.path};
  if (!names_a_path(run, expected.path)) return unjudged(check, "the fabric has no such path");
  const std::vector<bool> flows = run.selected(expected.flows);
  uint64_t all = 0, there = 0;
  for (const Attempt& attempt : run.history.attempts()) {
    if (attempt.attempt > 0 || attempt.start < expected.from || attempt.start >= until) continue;
    if (!flows[run.history.packets()[attempt.packet].flow]) continue;
    if (expected.flows.plane && !in_plane(attempt, *expected.flows.plane)) continue;
    ++all;
    if (on_path(attempt, expected.path)) ++there;
  }
  if (all == 0) return unjudged(check, "nothing was sent in this interval");
  return judge_share(expected, std::move(check), there, all,
                     {all, "packet", expected.from, until, Source::kPackets});
}

CheckResult judge(const ExpectPortShare& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "% of packets";
  const FabricTime until = run.end_of(expected.until);
  check.where = {expected.from, until, expected.port};
  if (!run.topology.routing.is_fare()) {
    return unjudged(check, "only with routing: fare do switches choose so");
  }
  if (run.history.crossings_until() < until) {
    return unjudged(check, "of packets that left switches after " +
                               to_string(run.history.crossings_until()) + " not all are known");
  }
  const std::vector<PortRef> meant = ports_of(run.topology, expected.port);
  const std::vector<PortRef> among = ports_of(run.topology, expected.among);
  if (meant.empty() || among.empty()) {
    return unjudged(check, "no port is called " + (among.empty() ? expected.among : expected.port));
  }
  const std::vector<bool> sources = hosts_of(run.topology, expected.source);
  const std::vector<bool> destinations = hosts_of(run.topology, expected.destination);
  uint64_t all = 0, there = 0;
  for (const Crossing& crossing : run.history.crossings()) {
    if (crossing.t < expected.from || crossing.t >= until) continue;
    if (!sources[crossing.source] || !destinations[crossing.destination]) continue;
    if (std::find(among.begin(), among.end(), crossing.port) == among.end()) continue;
    ++all;
    if (std::find(meant.begin(), meant.end(), crossing.port) != meant.end()) ++there;
  }
  if (all == 0) return unjudged(check, "no capture shows data leaving by " + expected.among);
  return judge_share(expected, std::move(check), there, all,
                     {all,
                      {"packet by " + expected.among, "packets by " + expected.among},
                      expected.from,
                      until,
                      Source::kPackets});
}

/// Packets that the selected flows sent in the interval, of those flows whose hosts have such a path between
/// them: others could not have used it.
Looked sent_by_users_of(const ExpectPathUnused& expected, const JudgedRun& run) {
  std::map<std::pair<uint32_t, uint32_t>, bool> has_it;  // by source and destination
  std::vector<bool> flows = run.selected(expected.flows);
  for (size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = run.history.flows()[i];
    const auto [entry, is_new] = has_it.try_emplace({flow.source, flow.destination}, false);
    if (is_new) {
      const auto paths = paths_between(run.topology, flow.source, flow.destination);
      entry->second = std::any_of(paths.begin(), paths.end(), [&](const Path& path) {
        return matches_pattern(expected.path, to_string(path)) &&
               path.plane == expected.flows.plane.value_or(path.plane);
      });
    }
    flows[i] = flows[i] && entry->second;
  }
  // On whichever path they went: had they gone by this one, they would have been seen there.
  const FabricTime until = run.end_of(expected.until);
  uint64_t begun = 0;
  for (const Attempt& attempt : run.history.attempts()) {
    if (attempt.start < expected.from || attempt.start >= until) continue;
    begun += flows[run.history.packets()[attempt.packet].flow] ? 1 : 0;
  }
  return {
      begun,
      {"packet of a host that has " + expected.path, "packets of hosts that have " + expected.path},
      expected.from,
      until,
      Source::kPackets};
}

CheckResult judge(const ExpectPathUnused& expected, const JudgedRun& run) {
  const PacketBounds bounds{0, expected.at_most, expected.from, expected.until, expected.flows};
  if (!names_a_path(run, expected.path)) return unjudged({}, "the fabric has no such path");
  CheckResult check = count_attempts(
      run, bounds,
      [&](const Attempt& a) -> std::optional<FabricTime> {
        if (!on_path(a, expected.path)) return std::nullopt;
        return a.start;
      },
      sent_by_users_of(expected, run));
  if (check.where && check.where->who.empty()) check.where->who = expected.path;
  return check;
}

}  // namespace

const Rules<ExpectShare>& rules_of(const ExpectShare&) {
  static constexpr Rules<ExpectShare> kRules{
      .sentence = [](const ExpectShare& e, const Wording& in) -> std::string {
        return "share of " + e.path + in.who(e.flows) + in.when(e) +
               in.bounds(e.at_least, e.at_most, Probability{Probability::kOne}, Wording::share) +
               " of packets";
      },
      .evidence = packets_in_interval<ExpectShare>,
      .early_end = in_its_interval<ExpectShare>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectPortShare>& rules_of(const ExpectPortShare&) {
  static constexpr Rules<ExpectPortShare> kRules{
      .sentence = [](const ExpectPortShare& e, const Wording& in) -> std::string {
        FlowSelection flows;
        flows.source = e.source;
        flows.destination = e.destination;
        return "share of " + e.port + " among " + e.among + in.who(flows) + in.when(e) +
               in.bounds(e.at_least, e.at_most, Probability{Probability::kOne}, Wording::share) +
               " of packets";
      },
      .evidence = packets_in_interval<ExpectPortShare>,
      .early_end = in_its_interval<ExpectPortShare>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectPathUnused>& rules_of(const ExpectPathUnused&) {
  static constexpr Rules<ExpectPathUnused> kRules{
      .sentence = [](const ExpectPathUnused& e, const Wording& in) -> std::string {
        return "packets sent over " + e.path + in.who(e.flows) + in.when(e) +
               in.at_most(std::to_string(e.at_most));
      },
      .evidence = packets_in_interval<ExpectPathUnused>,
      .early_end = in_its_interval<ExpectPathUnused>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
