#include "analysis/checks/expect_paths.h"

#include "analysis/checks/expectation_rules.h"
#include "fabric/path_list.h"
#include "fabric/path_pattern.h"
#include "fabric/pattern.h"

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
  check.measured = 100.0 * static_cast<double>(there) / static_cast<double>(all);
  const Wide part = Wide{there} * Probability::kOne;
  const bool too_few = part < Wide{all} * expected.at_least.ppb;
  const bool floor = too_few || expected.at_most.ppb == Probability::kOne;
  check.bound = percent_of(floor ? expected.at_least : expected.at_most);
  check.note = std::to_string(there) + " of " + std::to_string(all) + " packets";
  if (too_few || part > Wide{all} * expected.at_most.ppb) return failed(check, check.note);
  return passed(check);
}

CheckResult judge(const ExpectPathUnused& expected, const JudgedRun& run) {
  const PacketBounds bounds{0, expected.at_most, expected.from, expected.until, expected.flows};
  if (!names_a_path(run, expected.path)) return unjudged({}, "the fabric has no such path");
  CheckResult check =
      count_attempts(run, bounds, [&](const Attempt& a) -> std::optional<FabricTime> {
        if (!on_path(a, expected.path)) return std::nullopt;
        return a.start;
      });
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
