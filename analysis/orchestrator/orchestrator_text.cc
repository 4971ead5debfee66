#include "analysis/orchestrator/orchestrator_text.h"

#include "fabric/text/counted_noun.h"
#include "fabric/text/enum_words.h"

namespace mrclab::analysis {
namespace {

constexpr auto kFindingWords = words_by_value<FindingKind>({{FindingKind::kMiscabled, "miscabled"},
                                                            {FindingKind::kMissing, "missing"},
                                                            {FindingKind::kOneWay, "one_way"},
                                                            {FindingKind::kUnknown, "unknown"},
                                                            {FindingKind::kKeptOut, "kept_out"}});

}  // namespace

std::string_view name_of(FindingKind kind) { return kFindingWords[static_cast<size_t>(kind)]; }

std::string summary_of(const OrchestratorResult& result) {
  if (!result.none.empty()) return "found nothing, for evidence is missing: " + result.none;
  const bool timed = result.all_heard > FabricTime::zero();  // a lab that is asked has no such time
  return "LLDP every " + to_string(result.period) + ": " + std::to_string(result.as_planned) +
         " of " + counted_noun(result.links, "link") + " as planned" +
         (timed ? ", all heard by " + to_string(result.all_heard) : "");
}

std::vector<std::string> lines_of(const OrchestratorResult& result) {
  std::vector<std::string> lines;
  for (const OrchestratorFinding& finding : result.found) {
    lines.insert(lines.end(), finding.sentences.begin(), finding.sentences.end());
    for (const std::string& remedy : finding.remedies) lines.push_back("  " + remedy);
  }
  for (const ServiceStep& step : result.services) {
    lines.push_back(to_string(step.t) + "  " + step.node + "  " + step.phase +
                    (step.why.empty() ? "" : ": " + step.why));
  }
  return lines;
}

nlohmann::ordered_json to_json(const OrchestratorResult& result) {
  using Json = nlohmann::ordered_json;
  Json json{{"period_ns", result.period.ns()},
            {"links", result.links},
            {"as_planned", result.as_planned},
            {"all_heard_ns", result.all_heard.ns()}};
  json["heard"] = Json::array();
  for (const HeardLink& link : result.heard)
    json["heard"].push_back({{"a", link.a}, {"b", link.b}});
  json["found"] = Json::array();
  for (const OrchestratorFinding& finding : result.found) {
    json["found"].push_back({{"kind", name_of(finding.kind)},
                             {"parts", finding.parts},
                             {"sentences", finding.sentences},
                             {"remedies", finding.remedies},
                             {"named_ns", finding.named.ns()}});
  }
  json["services"] = Json::array();
  for (const ServiceStep& step : result.services) {
    json["services"].push_back(
        {{"t_ns", step.t.ns()}, {"switch", step.node}, {"phase", step.phase}, {"why", step.why}});
  }
  json["none"] = result.none;
  return json;
}

}  // namespace mrclab::analysis
