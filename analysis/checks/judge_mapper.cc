// Checks of what the tools of an operator find: a mapper, an orchestrator.

#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_mapper.h"
#include "analysis/expect/expect_orchestrator.h"
#include "analysis/mapper/denylist_result.h"
#include "analysis/mapper/mapper_collector.h"
#include "analysis/orchestrator/orchestrator_collector.h"
#include "fabric/topology/pattern.h"

namespace mrclab::analysis {
namespace {

constexpr std::string_view kNoPart = "none";

bool is_named(const ExpectMapperNames& expected, const Blame& blame) {
  const auto fits = [&](const std::string& name) { return matches_pattern(expected.part, name); };
  return fits(blame.kind + " " + blame.component) ||
         std::any_of(blame.or_else.begin(), blame.or_else.end(), fits);
}

std::string who(MapperWitness by) {
  switch (by) {
    case MapperWitness::kProbes: return "the mapper names ";
    case MapperWitness::kEvents: return "hosts' reports of paths name ";
    case MapperWitness::kBoth: return "the mapper, or hosts' reports of paths, name ";
  }
  return "";
}

CheckResult judge(const ExpectMapperNames& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  if (expected.within != FabricTime::never()) check.bound = expected.within.us();
  const auto mapper = mapper_result(run.topology, run.evidence.events(), run.evidence.coverage());
  if (!mapper) return unjudged(check, "the fabric has no mapper");
  if (!mapper->none.empty()) return unjudged(check, mapper->none);
  check.looked =
      expected.by == MapperWitness::kEvents
          ? run.of_whole_run(mapper->ev_events, {"bad entropy value", "bad entropy values"},
                             Source::kEvents)
          : run.of_whole_run(mapper->sent, "probe", Source::kEvents);
  if (mapper->sent == 0) return unjudged(check, "no agent has reported a probe");
  const FabricTime begin = run.faults.empty() ? FabricTime::zero() : run.first_fault();
  std::optional<FabricTime> first;
  for (const MapperFinding& finding : findings_of(*mapper, expected.by)) {
    if (expected.part == kNoPart || !is_named(expected, finding.part)) {
      check.where = {finding.part.from, finding.part.until, finding.part.component};
      return failed(check, "it names " + finding.part.kind + " " + finding.part.component);
    }
    if (!first) first = finding.named;
  }
  if (expected.part == kNoPart) return passed(check, *check.looked);
  if (!first) return failed(check, "it names nothing");
  const FabricTime took = std::max(*first, begin) - begin;
  check.measured = took.us();
  if (took > expected.within) return failed(check, "named at " + to_string(*first));
  return passed(check, *check.looked);
}

CheckResult judge(const ExpectOrchestratorNames& expected, const JudgedRun& run) {
  CheckResult check;
  check.unit = "us";
  if (expected.within != FabricTime::never()) check.bound = expected.within.us();
  const auto result =
      orchestrator_result(run.topology, run.evidence.events(), run.evidence.coverage());
  if (!result) return unjudged(check, "the fabric has no orchestrator");
  if (!result->none.empty()) return unjudged(check, result->none);
  check.looked = run.of_whole_run(result->heard.size(), "link", Source::kEvents);
  if (result->heard.empty()) return unjudged(check, "no link was heard by both of its ends");
  std::optional<FabricTime> first;
  for (const OrchestratorFinding& finding : result->found) {
    const bool named =
        std::any_of(finding.parts.begin(), finding.parts.end(),
                    [&](const std::string& part) { return matches_pattern(expected.part, part); });
    if (expected.part == kNoPart || !named) {
      return failed(check, "it names " + finding.sentences.front());
    }
    first = std::max(first.value_or(FabricTime::zero()), finding.named);
  }
  if (expected.part == kNoPart) return passed(check, *check.looked);
  if (!first) return failed(check, "it names nothing");
  check.measured = first->us();
  if (*first > expected.within) return failed(check, "named at " + to_string(*first));
  return passed(check, *check.looked);
}

/// What a denylist did, or in `check` why that is not known.
std::optional<DenylistResult> denylist_of(const JudgedRun& run, CheckResult& check) {
  const auto list = denylist_result(run.topology, run.evidence.events(), run.evidence.coverage());
  const auto& events = run.evidence.events().denylist();
  check.unit = "us";
  if (!list) {
    check = unjudged(check, "the fabric has no denylist");
  } else if (!list->none.empty()) {
    check = unjudged(check, list->none);
  } else if (events.empty()) {
    check = unjudged(check, "no host has reported a list");
  } else {
    check.looked = run.of_whole_run(events.size(), "decision", Source::kEvents);
    return list;
  }
  return std::nullopt;
}

CheckResult judge_denied(const ExpectDenied& expected, const JudgedRun& run) {
  CheckResult check;
  if (expected.within != FabricTime::never()) check.bound = expected.within.us();
  const auto list = denylist_of(run, check);
  if (!list) return check;
  const FabricTime begin = run.faults.empty() ? FabricTime::zero() : run.first_fault();
  uint64_t times = 0;
  std::optional<FabricTime> first;
  for (const DenialSpan& span : list->spans) {
    if (expected.part == kNoPart) {
      check.where = {span.at, span.allowed, span.part};
      return failed(check, "it denies " + span.part);
    }
    if (!matches_pattern(expected.part, span.part)) continue;
    ++times;
    if (!first && span.hosts == list->hosts) first = span.reached;
  }
  if (expected.part == kNoPart) return passed(check, *check.looked);
  if (times == 0) return failed(check, "it never denies it");
  if (!first) return failed(check, "not every host has left it out");
  const FabricTime took = std::max(*first, begin) - begin;
  check.measured = took.us();
  if (times > expected.at_most) {
    return failed(check, "it is denied " + std::to_string(times) + " times");
  }
  if (took > expected.within) return failed(check, "at all hosts at " + to_string(*first));
  return passed(check, *check.looked);
}

CheckResult judge_allowed_again(const ExpectAllowedAgain& expected, const JudgedRun& run) {
  CheckResult check;
  if (expected.within != FabricTime::never()) check.bound = expected.within.us();
  const auto list = denylist_of(run, check);
  if (!list) return check;
  const FabricTime begin = run.last_heal().value_or(FabricTime::zero());
  std::optional<FabricTime> last;
  for (const DenialSpan& span : list->spans) {
    if (!matches_pattern(expected.part, span.part)) continue;
    check.where = {span.at, run.measurements.end, span.part};
    if (span.allowed == FabricTime::never()) return failed(check, span.part + " stays denied");
    if (span.back == FabricTime::never()) return failed(check, "not at every host");
    last = std::max(last.value_or(span.back), span.back);
  }
  if (!last) return failed(check, "it was never denied");
  check.where = {};
  const FabricTime took = std::max(*last, begin) - begin;
  check.measured = took.us();
  if (took > expected.within) return failed(check, "at all hosts at " + to_string(*last));
  return passed(check, *check.looked);
}

}  // namespace

const Rules<ExpectDenied>& rules_of(const ExpectDenied&) {
  static constexpr Rules<ExpectDenied> kRules{
      .sentence = [](const ExpectDenied& e, const Wording& in) -> std::string {
        if (e.part == kNoPart) return "the denylist stays empty";
        std::string text = "time until all hosts left out " + e.part;
        if (e.within != FabricTime::never()) text += in.at_most(in.time(e.within));
        if (e.at_most != ExpectDenied::kNoBound) {
          text += ", at most " + std::to_string(e.at_most) + " times";
        }
        return text;
      },
      .evidence = needs<ExpectDenied, Witness::kEvents>,
      .early_end = so_far<ExpectDenied>,
      .judge = judge_denied,
  };
  return kRules;
}

const Rules<ExpectAllowedAgain>& rules_of(const ExpectAllowedAgain&) {
  static constexpr Rules<ExpectAllowedAgain> kRules{
      .sentence = [](const ExpectAllowedAgain& e, const Wording& in) -> std::string {
        const bool bounded = e.within != FabricTime::never();
        return "time until all hosts use " + e.part + " again" +
               (bounded ? in.at_most(in.time(e.within)) : "");
      },
      .evidence = needs<ExpectAllowedAgain, Witness::kEvents>,
      .early_end = so_far<ExpectAllowedAgain>,
      .judge = judge_allowed_again,
  };
  return kRules;
}

const Rules<ExpectMapperNames>& rules_of(const ExpectMapperNames&) {
  static constexpr Rules<ExpectMapperNames> kRules{
      .sentence = [](const ExpectMapperNames& e, const Wording& in) -> std::string {
        if (e.part == kNoPart) return who(e.by) + "nothing";
        const bool bounded = e.within != FabricTime::never();
        return "time until " + who(e.by) + e.part + ", and nothing else" +
               (bounded ? in.at_most(in.time(e.within)) : "");
      },
      .evidence = needs<ExpectMapperNames, Witness::kEvents>,
      .early_end = so_far<ExpectMapperNames>,
      .judge = judge,
  };
  return kRules;
}

const Rules<ExpectOrchestratorNames>& rules_of(const ExpectOrchestratorNames&) {
  static constexpr Rules<ExpectOrchestratorNames> kRules{
      .sentence = [](const ExpectOrchestratorNames& e, const Wording& in) -> std::string {
        if (e.part == kNoPart) return "the orchestrator finds all as planned";
        const bool bounded = e.within != FabricTime::never();
        return "time until the orchestrator names " + e.part + ", and nothing else" +
               (bounded ? in.at_most(in.time(e.within)) : "");
      },
      .evidence = needs<ExpectOrchestratorNames, Witness::kEvents>,
      .early_end = so_far<ExpectOrchestratorNames>,
      .judge = judge,
  };
  return kRules;
}

}  // namespace mrclab::analysis
