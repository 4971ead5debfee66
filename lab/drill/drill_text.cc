// A drill on the terminal, and as JSON.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/visible_text.h"
#include "lab/drill/drill.h"

namespace mrclab::lab {
namespace {

constexpr size_t kAlertsShown = 100;

std::string name_of_alert(const AlertLabels& labels) {
  const auto name = labels.find("alertname");
  return name == labels.end() ? "-" : visible(name->second);
}

/// What sets it apart, without what every alert of a drill has.
std::string labels_text(const AlertLabels& labels) {
  std::string text;
  for (const auto& [name, value] : labels) {
    const bool same = (name == "instance" && labels.contains("node")) || name == "alertname" ||
                      name == "job" || name == "severity" || name == "plane";
    if (!same)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", visible(name), visible(value));
  }
  return text;
}

std::string truth_text(const DrilledAlert& alert) {
  switch (alert.truth) {
    case AlertTruth::kFault: return fmt::format("fault {}", alert.fault + 1);
    case AlertTruth::kElsewhere: return fmt::format("elsewhere, during fault {}", alert.fault + 1);
    case AlertTruth::kFalse: break;
  }
  return "FALSE ALARM";
}

std::string until_text(FabricTime t) { return t == FabricTime::never() ? "-" : to_string(t); }

std::string fault_line(const Drill& drill, size_t number) {
  const DrilledFault& fault = drill.faults[number];
  const std::string text = fmt::format("fault {}  {}: ", number + 1, visible(fault.description));
  if (fault.alerts.empty()) return text + "NO ALERT\n";
  const DrilledAlert& first = drill.alerts[fault.alerts.front()];
  return text + fmt::format("{} after {}\n", name_of_alert(first.span.labels),
                            to_string(first.fired - fault.start));
}

}  // namespace

std::string drill_text(const Drill& drill) {
  std::string text = fmt::format(
      "A sample every {} of the fabric is one every {:g} s of the site: 1 us there is {:g} s here.\n"
      "{} at {}; an alert may be about a fault up to {} behind its end.\n",
      to_string(drill.every),
      static_cast<double>(drill.every.ps()) * 1e-12 * static_cast<double>(drill.stretch),
      static_cast<double>(drill.stretch) * 1e-6,
      counted_noun(drill.series, Noun("series", "series")), counted_noun(drill.steps, "step"),
      to_string(drill.memory + drill.every * 2));
  if (!drill.alerts.empty()) {
    text +=
        fmt::format("{:<24} {:>10} {:>10}  {:<26} {}\n", "ALERT", "FIRED", "UNTIL", "TRUTH", "OF");
  }
  for (size_t i = 0; i < drill.alerts.size() && i < kAlertsShown; ++i) {
    const DrilledAlert& alert = drill.alerts[i];
    text += fmt::format("{:<24} {:>10} {:>10}  {:<26} {}\n", name_of_alert(alert.span.labels),
                        to_string(alert.fired), until_text(alert.ended), truth_text(alert),
                        labels_text(alert.span.labels));
  }
  if (drill.alerts.size() > kAlertsShown) {
    text += fmt::format("... and {} more (--json has all)\n", drill.alerts.size() - kAlertsShown);
  }
  for (size_t f = 0; f < drill.faults.size(); ++f) text += fault_line(drill, f);
  if (!drill.silent_rules.empty()) {
    text += fmt::format("never fired: {}\n",
                        visible(fmt::format("{}", fmt::join(drill.silent_rules, ", "))));
  }
  if (!drill.unknown.empty()) {
    text += fmt::format("a run does not have: {}\n",
                        visible(fmt::format("{}", fmt::join(drill.unknown, ", "))));
  }
  const char* word = drill.exit_code() == 0   ? "PASS"
                     : drill.exit_code() == 1 ? "FAIL"
                                              : "INCONCLUSIVE, the run is not faithful";
  return text + fmt::format("{}  {} of {} with an alert, {}, {} elsewhere\n", word,
                            drill.faults.size() - drill.unalarmed(),
                            counted_noun(drill.faults.size(), "fault"),
                            counted_noun(drill.false_alarms(), "false alarm"), drill.elsewhere());
}

std::string drill_json(const Drill& drill) {
  using Json = nlohmann::ordered_json;
  const auto us = [](FabricTime t) {
    return t == FabricTime::never() ? Json(nullptr) : Json(static_cast<double>(t.ps()) * 1e-6);
  };
  Json json{{"run", drill.run},
            {"rules", drill.rules},
            {"every_us", us(drill.every)},
            {"stretch", drill.stretch},
            {"steps", drill.steps},
            {"series", drill.series},
            {"faithful", drill.faithful},
            {"faults_without_alert", drill.unalarmed()},
            {"false_alarms", drill.false_alarms()},
            {"elsewhere", drill.elsewhere()},
            {"never_fired", drill.silent_rules},
            {"unknown_metrics", drill.unknown},
            {"faults", Json::array()},
            {"alerts", Json::array()}};
  for (const DrilledFault& fault : drill.faults) {
    json["faults"].push_back({{"description", fault.description},
                              {"start_us", us(fault.start)},
                              {"healed_us", us(fault.healed)},
                              {"alerts", fault.alerts}});
  }
  for (const DrilledAlert& alert : drill.alerts) {
    json["alerts"].push_back({{"labels", alert.span.labels},
                              {"fired_us", us(alert.fired)},
                              {"ended_us", us(alert.ended)},
                              {"truth", alert.truth == AlertTruth::kFault       ? "fault"
                                        : alert.truth == AlertTruth::kElsewhere ? "elsewhere"
                                                                                : "false"}});
    if (alert.truth != AlertTruth::kFalse) json["alerts"].back()["fault"] = alert.fault;
  }
  return printed(json, "drill") + "\n";
}

}  // namespace mrclab::lab
