// A score of blame as a table and as JSON.

#include <fmt/format.h>

#include <algorithm>

#include "console/indented_lines.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"
#include "faults/fault_kind.h"
#include "lab/chaos/blame_score.h"
#include "lab/chaos/blame_target.h"

namespace mrclab::lab {
namespace {

std::vector<std::string> row_of(const std::string& name, const BlameCases& cases) {
  std::vector<std::string> row{name};
  for (const uint64_t figure : {cases.targets, cases.faint, cases.observable, cases.component,
                                cases.in_class, cases.missed()}) {
    row.push_back(fmt::format("{:>4}", figure));
  }
  return row;
}

std::string listing(const std::string& title, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string text = title + "\n";
  for (const std::string& line : lines) text += indented_lines(line);
  return text;
}

std::string delays_text(std::vector<int64_t> delays) {
  if (delays.empty()) return "";
  std::sort(delays.begin(), delays.end());
  const auto at = [&](size_t percent) {
    return to_string(FabricTime::from_ns(delays[(delays.size() - 1) * percent / 100]));
  };
  return fmt::format("named       {} after the fault's start, half of them; {}, 95 of 100\n",
                     at(50), at(95));
}

constexpr auto kCaseFields = std::to_array<std::pair<const char*, uint64_t BlameCases::*>>(
    {{"targets", &BlameCases::targets},
     {"faint", &BlameCases::faint},
     {"observable", &BlameCases::observable},
     {"component", &BlameCases::component},
     {"class", &BlameCases::in_class},
     {"part", &BlameCases::part},
     {"faint_named", &BlameCases::faint_named},
     {"distinguishable", &BlameCases::alone},
     {"distinguishable_named", &BlameCases::alone_named}});
constexpr auto kShareFields = std::to_array<std::pair<const char*, uint64_t BlameShares::*>>(
    {{"runs", &BlameShares::runs},
     {"blames", &BlameShares::blames},
     {"named", &BlameShares::named},
     {"observable", &BlameShares::observable},
     {"found", &BlameShares::found},
     {"distinguishable", &BlameShares::alone},
     {"distinguishable_found", &BlameShares::alone_found}});

}  // namespace

std::string blame_table(const BlameScore& score, const ScoreMarks& marks) {
  std::vector<std::vector<std::string>> rows{
      {"kind", "injected", "faint", "observable", "component", "class", "missed"}};
  std::string silent;
  for (const auto& [kind, cases] : score.kinds) {
    const auto known = faults::find_fault(kind);
    if (known && !without_evidence(*known).empty()) {
      silent += fmt::format("{}{} {}", silent.empty() ? "" : ", ", kind, cases.targets);
      continue;
    }
    rows.push_back(row_of(kind, cases));
  }
  const BlameCases all = score.all_kinds();
  rows.push_back(row_of("all of these", all));
  rows.back()[1] = "";  // which would count those below
  std::string text = table(rows);
  if (!silent.empty()) text += indented_lines("no evidence by nature: " + silent);
  text += listing("wrong", score.wrong) + listing("missed", score.not_found);
  text +=
      fmt::format("blames      {} in {}: {} right, {} a part of it, {} wrong\n", score.blames,
                  counted_noun(score.runs, "run"), score.right, score.parts, score.wrong.size());
  text += fmt::format("precision   {:.3f}, must be {:.2f}\n", score.precision(), marks.precision);
  text += fmt::format("recall      {:.3f}, must be {:.2f}; with the faint ones {:.3f}\n",
                      score.recall(), marks.recall, score.recall_faint());
  text += fmt::format(
      "            of {} that can be distinguished {:.3f}; {} of {} missed masked\n", all.alone,
      score.recall_alone(), all.missed() - (all.alone - all.alone_named), all.missed());
  text += delays_text(score.delays_ns);
  if (score.transports.empty()) return text;
  std::vector<std::vector<std::string>> by_transport{{"transport", "runs", "blames", "precision",
                                                      "observable", "recall", "distinguishable",
                                                      "recall"}};
  for (const auto& [name, shares] : score.transports) {
    by_transport.push_back({name, fmt::format("{:>4}", shares.runs),
                            fmt::format("{:>4}", shares.blames),
                            fmt::format("{:.3f}", share_of(shares.named, shares.blames)),
                            fmt::format("{:>4}", shares.observable),
                            fmt::format("{:.3f}", share_of(shares.found, shares.observable)),
                            fmt::format("{:>4}", shares.alone),
                            fmt::format("{:.3f}", share_of(shares.alone_found, shares.alone))});
  }
  text += table(by_transport);
  return text;
}

nlohmann::ordered_json to_json(const BlameScore& score) {
  nlohmann::ordered_json json{{"runs", score.runs},
                              {"blames", score.blames},
                              {"right", score.right},
                              {"parts", score.parts},
                              {"precision", score.precision()},
                              {"recall", score.recall()},
                              {"recall_with_faint", score.recall_faint()},
                              {"recall_distinguishable", score.recall_alone()},
                              {"wrong", score.wrong},
                              {"missed", score.not_found}};
  if (!score.delays_ns.empty()) json["delays_ns"] = score.delays_ns;
  auto kinds = nlohmann::ordered_json::object();
  for (const auto& [kind, cases] : score.kinds) {
    for (const auto& [name, field] : kCaseFields) kinds[kind][name] = cases.*field;
  }
  json["kinds"] = std::move(kinds);
  auto transports = nlohmann::ordered_json::object();
  for (const auto& [transport, shares] : score.transports) {
    for (const auto& [name, field] : kShareFields) transports[transport][name] = shares.*field;
  }
  json["transports"] = std::move(transports);
  return json;
}

BlameScore blame_score_from_json(const std::string& text) {
  try {
    const auto json = nlohmann::json::parse(text);
    BlameScore score;
    json.at("runs").get_to(score.runs);
    json.at("blames").get_to(score.blames);
    json.at("right").get_to(score.right);
    json.at("parts").get_to(score.parts);
    json.at("wrong").get_to(score.wrong);
    json.at("missed").get_to(score.not_found);
    score.delays_ns = json.value("delays_ns", std::vector<int64_t>());
    for (const auto& [kind, cases] : json.at("kinds").items()) {
      for (const auto& [name, field] : kCaseFields) {
        cases.at(name).get_to(score.kinds[kind].*field);
      }
    }
    for (const auto& [transport, shares] : json.at("transports").items()) {
      for (const auto& [name, field] : kShareFields) {
        shares.at(name).get_to(score.transports[transport].*field);
      }
    }
    return score;
  } catch (const nlohmann::json::exception& error) {
    throw InputError("a score of blame: " + json_problem(error) + ": expected what mrclab writes");
  }
}

}  // namespace mrclab::lab
