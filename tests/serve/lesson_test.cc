// Lessons: each can be solved, and none is solved before anything was done.

#include "session/lesson.h"

#include <doctest/doctest.h>

#include <utility>

#include "faults/fault_choice.h"
#include "faults/fault_order.h"
#include "plan/fabric_plan.h"
#include "session/lesson_verdict.h"
#include "session/session_verdict.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

/// The result of the task in this session, as page and hand-ins have it.
std::string result_of(const Lesson& lesson, const LessonTask& task, const Scenario& session) {
  const auto judge = [&] { return verdict_of(to_yaml(session), task.expect); };
  return lesson_verdict(lesson, task, session, judge).at("result");
}

}  // namespace

TEST_CASE("every task of every lesson is open at first, and done by its solution") {
  REQUIRE(lessons().size() == 14);
  for (const Lesson& lesson : lessons()) {
    bool first = true;
    for (const LessonTask& task : lesson.tasks) {
      if (!task.answer.empty()) continue;
      CAPTURE(lesson.name);
      CAPTURE(task.title);
      // Of each task the night looks; what nobody has done yet takes as long as what was done.
      if (std::exchange(first, false) || test::nightly()) {
        CHECK(result_of(lesson, task, scenario_of(lesson)) == "fail");
      }
      CHECK(missing_for(lesson, task, solved(lesson, task)) == "");
      CHECK(result_of(lesson, task, solved(lesson, task)) == "pass");
    }
  }
}

TEST_CASE("where a task says so, what the menu proposes does it") {
  const Lesson& lesson = find_lesson("03-loss-trim-mark");
  const Scenario given = scenario_of(lesson);
  const Topology& topology = given.topology;
  NameResolver names(topology, given.seed);
  const faults::Choice uplink{.links = names.links("p3.t0-1:u2")}, h0{.nodes = names.nodes("h0")};
  // Each as a click in the menu makes it (page/menu.js: bodyOf).
  const auto clicked = [&](const char* name, const faults::Choice& chosen) {
    const faults::FaultInfo& kind = faults::info(*faults::find_fault(name));
    FaultOrder order{name, {}, {}};
    for (const auto& [key, value] : faults::usual_parameters(kind)) order.body[key] = value;
    const auto target = faults::targets_for(kind, chosen, topology);
    REQUIRE(target);
    for (const auto& [key, value] : *target) order.body[key] = value;
    return fault_of(order, FabricTime::from_us(60), names);
  };
  const auto result = [&](size_t task, std::vector<faults::Fault> faults) {
    Scenario session = scenario_of(lesson);
    session.faults = std::move(faults);
    return result_of(lesson, lesson.tasks.at(task),
                     parse_scenario(read_yaml_text(to_yaml(session), "session")));
  };
  CHECK(result(0, {clicked("wire_loss", uplink)}) == "pass");
  CHECK(result(1, {clicked("incast", h0)}) == "pass");
  CHECK(result(1, {clicked("wire_loss", uplink)}) == "fail");
}

TEST_CASE("an answer counts in the ways in which people write it, and no other does") {
  LessonTask number, share, word;
  number.answer = "10 MB";
  share.answer = "0.39 %";
  word.answer = "ev_probes";
  for (const char* text : {"10 MB", "10", "10.0MB", " 10 mb"}) CHECK(is_answer(number, text));
  for (const char* text : {"", "MB", "11", "10.04", "10 GB", "-10", "ten"})
    CHECK_FALSE(is_answer(number, text));
  for (const char* text : {"0.39", "0.390625 %", "0.394%"}) CHECK(is_answer(share, text));
  for (const char* text : {"0.4", "0.38", "39 %", "0"}) CHECK_FALSE(is_answer(share, text));
  CHECK(is_answer(word, "EV_probes "));
  CHECK_FALSE(is_answer(word, ""));
  CHECK_FALSE(is_answer(word, "7"));
  for (const Lesson& lesson : lessons()) {
    for (const LessonTask& task : lesson.tasks) {
      if (!task.answer.empty()) CHECK(is_answer(task, task.answer));
    }
  }
}

TEST_CASE("a plan of the lesson's size has the parts that the lesson asks for") {
  const Lesson& lesson = find_lesson("12-plan-131072");
  const FabricPlan plan = plan_fabric(shape_of(PlanRequest{}));
  CHECK(is_answer(lesson.tasks.at(0), std::to_string(plan.hosts)));
  CHECK_FALSE(is_answer(lesson.tasks.at(0), std::to_string(plan.hosts + 1)));
  CHECK(is_answer(lesson.tasks.at(1), std::to_string(plan.t0 + plan.t1)));
}

TEST_CASE("the page is told everything of a lesson but its solutions and answers") {
  for (const nlohmann::json& lesson : lessons_json()) {
    CHECK_FALSE(lesson.contains("mistakes"));
    CHECK_FALSE(lesson.at("tasks").empty());
    for (const nlohmann::json& task : lesson.at("tasks")) {
      for (const char* secret : {"solution", "options", "answer", "why", "expect", "deed"})
        CHECK_FALSE(task.contains(secret));
    }
  }
}

TEST_CASE("a lesson that lacks something is refused with its place") {
  CHECK_THROWS_WITH_AS(parse_lesson("x", "words"),
                       "x: found no front matter: expected it between two lines of ---",
                       InputError);
  CHECK_THROWS_AS(parse_lesson("x", "---\ntitle: a\n---\nwords\n"), InputError);
  CHECK_THROWS_AS(parse_lesson("x", "---\ntitle: a\nodd: b\n---\nwords\n"), InputError);
}

}  // namespace mrclab::lab
