// Checks of what the tools of an operator find: a mapper, an orchestrator.

#include <algorithm>

#include "analysis/checks/expectation_rules.h"
#include "analysis/expect/expect_mapper.h"
#include "analysis/expect/expect_orchestrator.h"
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
          ? run.of_whole_run(mapper->ev_events, "entropy value assumed bad", Source::kEvents)
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

}  // namespace

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
