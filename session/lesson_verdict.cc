#include "session/lesson_verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/topology/fabric_file.h"
#include "session/fabric_session.h"
#include "session/lesson_deed.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

bool same_workload(const Scenario& a, const Scenario& b) {
  return std::equal(
      a.workload.begin(), a.workload.end(), b.workload.begin(), b.workload.end(),
      [](const auto& x, const auto& y) { return endpoint::to_yaml(x) == endpoint::to_yaml(y); });
}

/// Has every option of the two transports the same value, and do switches route in the same way?
bool same_transport(const Scenario& a, const Scenario& b) {
  const auto one = endpoint::make_profile(a.transport, a.topology);
  const auto other = endpoint::make_profile(b.transport, b.topology);
  const auto options = endpoint::transport_options();
  return one.transport == other.transport &&
         a.topology.routing.by_default == b.topology.routing.by_default &&
         std::all_of(options.begin(), options.end(), [&](const auto& option) {
           return endpoint::shown_value(option, one) == endpoint::shown_value(option, other);
         });
}

/// "goodput from 400us ≥ 95 % of baseline: 99.8 %": what was expected, and what was measured or why it was not.
std::string sentence_of(const json& check) {
  std::string text = check.value("about", check.at("name").get<std::string>());
  if (!check.value("measured", json()).is_number()) {
    const std::string note = check.value("note", "");
    return note.empty() ? text : text + ": " + note;
  }
  const auto measured = check.at("measured").get<double>();
  const std::string unit = check.value("unit", "");
  text +=
      unit.empty() ? fmt::format(": {:.0f}", measured) : fmt::format(": {:.2f} {}", measured, unit);
  return text;
}

}  // namespace

std::string other_than_lesson(const Lesson& lesson, const Scenario& session) {
  Scenario given = scenario_of(lesson);
  given = with_transport(std::move(given), endpoint::to_yaml(session.transport));
  // A transport asks for these of the fabric; missing_for() looks at the transport.
  given.fabric.routing = session.fabric.routing;
  given.fabric.lossless = session.fabric.lossless;
  if (to_yaml(given.fabric, 0) != to_yaml(session.fabric, 0)) return "another fabric";
  if (session.seed != given.seed) return "the seed " + std::to_string(session.seed);
  if (session.end != given.end) return "the end " + to_string(session.end);
  if (!session.programs.empty() || !same_workload(session, given)) return "another workload";
  if (session.without != given.without) return "mechanisms that are switched off";
  return "";
}

std::string missing_for(const Lesson& lesson, const LessonTask& task, const Scenario& session) {
  if (const std::string other = other_than_lesson(lesson, session); !other.empty()) {
    return "this session has " + other + " than the lesson";
  }
  Scenario asked = scenario_of(lesson);
  const std::vector<Deed> deeds = parse_deeds(task.deed, asked);
  if (!task.options.empty()) asked = with_transport(std::move(asked), task.options);
  if (!same_transport(session, asked)) return "the transport is not the one that the task asks for";
  return missing_deed(deeds, session);
}

json lesson_verdict(const Lesson& lesson, const LessonTask& task, const Scenario& session,
                    const std::function<json()>& judge) {
  const std::string missing = missing_for(lesson, task, session);
  if (!missing.empty()) {
    json check{
        {"name", "task"}, {"result", "fail"}, {"text", "what the task asks for: " + missing}};
    return {{"result", "fail"}, {"checks", json::array({check})}, {"story", json::array()}};
  }
  json verdict = judge();
  for (json& each : verdict["checks"]) {
    if (!each.contains("text")) each["text"] = sentence_of(each);
  }
  json check{{"name", "task"}, {"result", "pass"}, {"text", "what the task asks for is done"}};
  verdict["checks"].insert(verdict["checks"].begin(), std::move(check));
  if (verdict.at("result") == "pass") verdict["why"] = task.why;
  return verdict;
}

json answer_verdict(const LessonTask& task, std::string_view typed) {
  const bool right = is_answer(task, typed);
  json verdict{
      {"result", right ? "pass" : "fail"}, {"checks", json::array()}, {"story", json::array()}};
  if (right) verdict["why"] = task.why;
  return verdict;
}

}  // namespace mrclab::lab
