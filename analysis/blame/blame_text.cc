#include "analysis/blame/blame_text.h"

namespace mrclab::analysis {

std::string headline(const Blame& blame) {
  std::string text = blame.kind + " " + blame.component + " " +
                     std::string(name_of(blame.symptom)) + ", packets sent " +
                     to_string(blame.from) + " to " + to_string(blame.until);
  if (blame.times > 1) text += ", " + std::to_string(blame.times) + " times";
  return text;
}

nlohmann::ordered_json to_json(const Blame& blame) {
  return {{"kind", blame.kind},
          {"component", blame.component},
          {"symptom", name_of(blame.symptom)},
          {"or_else", blame.or_else},
          {"places", blame.places},
          {"from_ns", blame.from.ns()},
          {"until_ns", blame.until.ns()},
          {"times", blame.times},
          {"bad", blame.bad},
          {"of", blame.of},
          {"bad_elsewhere", blame.bad_elsewhere},
          {"noticed", blame.noticed},
          {"evidence", blame.evidence}};
}

}  // namespace mrclab::analysis
