#include "analysis/mapper/mapper_text.h"

#include <cstdio>

#include "analysis/blame/blame_text.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

using Json = nlohmann::ordered_json;

std::string exact_percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", share * 100);
  return text;
}

Json to_json(const std::vector<MapperFinding>& findings) {
  Json list = Json::array();
  for (const MapperFinding& finding : findings) {
    Json part = to_json(finding.part);
    part["named_ns"] = finding.named.ns();
    part["loss_low"] = finding.loss_low;
    part["loss_high"] = finding.loss_high;
    list.push_back(std::move(part));
  }
  return list;
}

}  // namespace

std::string summary_of(const MapperResult& result) {
  std::string text = "every " + to_string(result.period) + ", " +
                     counted_noun(result.sent, "probe") + ", " + std::to_string(result.lost) +
                     " lost";
  if (result.unexplained > 0) {
    text += ", " + std::to_string(result.unexplained) + " of them too few to name a part";
  }
  if (result.late > 0) text += ", " + std::to_string(result.late) + " late";
  if (result.forged > 0) text += ", " + std::to_string(result.forged) + " forged";
  text += result.probed == result.links
              ? "; all of " + counted_noun(result.links, "link") + " probed"
              : "; " + std::to_string(result.probed) + " of " + counted_noun(result.links, "link") +
                    " probed";
  return text + ", at most " + exact_percent(result.share) + " of a port";
}

std::string headline(const MapperFinding& finding) {
  const Blame& part = finding.part;
  const std::string loss =
      exact_percent(finding.loss_low) + " to " + exact_percent(finding.loss_high);
  return part.kind + " " + part.component + " " + std::string(name_of(part.symptom)) +
         (part.bad > 0 ? " (" + loss + ")" : "") + ", from " + to_string(part.from) + " to " +
         to_string(part.until) + "; named at " + to_string(finding.named);
}

nlohmann::ordered_json to_json(const MapperResult& result) {
  Json json{{"period_ns", result.period.ns()},
            {"timeout_ns", result.timeout.ns()},
            {"form", result.form == ProbeForm::kStamp ? "stamp" : "own"},
            {"share", result.share},
            {"threshold", result.threshold},
            {"links", result.links},
            {"probed", result.probed},
            {"reports", result.reports},
            {"sent", result.sent},
            {"lost", result.lost},
            {"late", result.late},
            {"slow", result.slow},
            {"marked", result.marked},
            {"again", result.again},
            {"forged", result.forged},
            {"unexplained", result.unexplained}};
  json["found"] = to_json(result.found);
  json["ev_events"] = result.ev_events;
  json["by_events"] = to_json(result.by_events);
  json["none"] = result.none;
  return json;
}

}  // namespace mrclab::analysis
