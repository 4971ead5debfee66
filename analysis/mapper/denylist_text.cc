#include "analysis/mapper/denylist_text.h"

#include <algorithm>

#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

int64_t ns_or_never(FabricTime t) { return t == FabricTime::never() ? -1 : t.ns(); }

}  // namespace

std::string summary_of(const DenylistResult& result) {
  if (!result.none.empty())
    return "nothing is known of it, for evidence is missing: " + result.none;
  const auto again = static_cast<uint64_t>(
      std::count_if(result.spans.begin(), result.spans.end(),
                    [](const DenialSpan& span) { return span.allowed != FabricTime::never(); }));
  std::string text = result.collector + " decides; " + counted_noun(result.lists, "list") + "; " +
                     counted_noun(result.spans.size(), "part") + " denied, " +
                     std::to_string(again) + " allowed again";
  if (!result.capped.empty()) {
    text += ", " + std::to_string(result.capped.size()) + " not denied, as it would be too much";
  }
  if (result.left_out > 0) {
    text += "; hosts left " + counted_noun(result.left_out, "part") +
            " of the list in use, over all queue pairs";
  }
  if (result.expired > 0) text += "; " + counted_noun(result.expired, "host") + " forgot a list";
  return text;
}

std::string headline(const DenialSpan& span, uint32_t hosts) {
  std::string text = span.part + " denied at " + to_string(span.at);
  text += span.hosts == hosts
              ? ", at all " + counted_noun(hosts, "host") + " at " + to_string(span.reached)
              : ", at " + std::to_string(span.hosts) + " of " + counted_noun(hosts, "host");
  if (span.allowed == FabricTime::never()) return text;
  text += "; allowed again at " + to_string(span.allowed);
  if (span.back != FabricTime::never()) text += ", at all hosts at " + to_string(span.back);
  return text;
}

nlohmann::ordered_json to_json(const DenylistResult& result) {
  using Json = nlohmann::ordered_json;
  Json json{{"collector", result.collector},
            {"hosts", result.hosts},
            {"lists", result.lists},
            {"expired", result.expired},
            {"left_out", result.left_out}};
  json["spans"] = Json::array();
  for (const DenialSpan& span : result.spans) {
    json["spans"].push_back({{"part", span.part},
                             {"why", span.why},
                             {"at_ns", span.at.ns()},
                             {"hosts", span.hosts},
                             {"reached_ns", span.reached.ns()},
                             {"allowed_ns", ns_or_never(span.allowed)},
                             {"back_ns", ns_or_never(span.back)}});
  }
  json["capped"] = Json::array();
  for (const DenylistResult::Capped& capped : result.capped) {
    json["capped"].push_back(
        {{"part", capped.part}, {"why", capped.why}, {"at_ns", capped.at.ns()}});
  }
  return json;
}

}  // namespace mrclab::analysis
