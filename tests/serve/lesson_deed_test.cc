// The nearest wrong deeds of each task: what a student might do in place of what is asked does not pass.

#include "session/lesson_deed.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "session/fabric_session.h"
#include "session/lesson_verdict.h"

namespace mrclab::lab {
namespace {

/// The lesson's session under a transport (empty: its own) and with these faults.
Scenario session_of(const Lesson& lesson, const std::string& options, const std::string& faults) {
  LessonTask done;
  done.options = options;
  done.solution = faults;
  return solved(lesson, done);
}

struct Row {
  const char* lesson;
  size_t task;  ///< from 1, as people count
  const char* options;
  const char* faults;
  const char* missing;  ///< a piece of the sentence
};

constexpr const char* kOther = "it is on something else";
constexpr const char* kEarly = "it ends too early";
constexpr const char* kTransport = "the transport is not the one that the task asks for";

// clang-format off
const Row kWrong[] = {
    {"01-one-packet", 1, "", "- {at: 50us, denylist: {host: h0, path: \"p1/*\"}}", "not on all"},
    {"01-one-packet", 1, "", "- {at: 50us, denylist: {host: [h0, h1], path: \"p0/*\"}}", kOther},
    {"01-one-packet", 1, "", "- {at: 50us, denylist: {host: [h0, h1], path: \"p1/*\", for: 200us}}", kEarly},
    {"01-one-packet", 1, "", "- {at: 50us, plane_down: {plane: p1}}", "no denylist"},
    {"01-one-packet", 1, "{profile: lab, spray: off}", "- {at: 50us, denylist: {host: [h0, h1], path: \"p1/*\"}}", kTransport},
    {"02-many-paths", 1, "{profile: lab}", "", kTransport},
    {"02-many-paths", 1, "{profile: lab, spray: off}", "- {at: 80us, denylist: {host: h0, path: \"p[0-3]/*\"}}", "without a fault"},
    {"02-many-paths", 2, "", "- {at: 80us, denylist: {host: h0, path: \"p[0-2]/*\"}}", "not on all"},
    {"02-many-paths", 2, "", "- {at: 80us, denylist: {host: h0, path: \"p[0-3]/*\", for: 100us}}", kEarly},
    {"02-many-paths", 2, "", "- {at: 80us, plane_down: {plane: \"p[0-3]\"}}", "no denylist"},
    {"02-many-paths", 3, "", "- {at: 250us, link_down: {link: \"p0.t0-0:u1\"}}", kOther},
    {"02-many-paths", 3, "", "- {at: 250us, link_down: {link: \"p0.t0-0:u0\", for: 20us}}", kEarly},
    {"02-many-paths", 3, "", "- {at: 250us, blackhole: {link: \"p0.t0-0:u0\"}}", "no link_down"},
    {"03-loss-trim-mark", 1, "", "- {at: 60us, link_down: {link: \"p0.t0-0:u0\", for: 20us}}", "no wire_loss"},
    {"03-loss-trim-mark", 1, "", "- {at: 60us, wire_loss: {link: \"h0:p0\", loss: 20%, for: 50us}}", kOther},
    {"03-loss-trim-mark", 2, "", "- {at: 60us, buffer: {switch: \"p*.t0-*\", lost: 90%}}", "no incast"},
    {"03-loss-trim-mark", 2, "", "- {at: 60us, incast: {from: \"h[1-3]\", to: h0, size: 1MiB}}", "not on all"},
    {"03-loss-trim-mark", 2, "", "- {at: 60us, incast: {from: \"h[1-7]\", to: h0, size: 256KiB}}\n- {at: 50us, trim_off: {switch: \"p0.t0-0\"}}", "not over"},
    {"03-loss-trim-mark", 3, "", "- {at: 60us, incast: {from: \"h[1-7]\", to: h0, size: 256KiB}}", "no trim_off"},
    {"03-loss-trim-mark", 3, "", "- {at: 50us, trim_off: {switch: \"p*.t0-*\"}}\n- {at: 60us, wire_loss: {link: \"p0.t0-0:u0\", loss: 20%, for: 50us}}", "no incast"},
    {"03-loss-trim-mark", 3, "", "- {at: 50us, trim_off: {switch: \"p*.t0-0\"}}\n- {at: 60us, incast: {from: \"h[1-7]\", to: h0, size: 256KiB}}", "not on all"},
    {"03-loss-trim-mark", 3, "", "- {at: 90us, trim_off: {switch: \"p*.t0-*\"}}\n- {at: 60us, incast: {from: \"h[1-7]\", to: h0, size: 256KiB}}", "begins before"},
    {"04-link-flap", 1, "", "- {at: 250us, link_down: {link: \"h0:p0\", for: 40us}}", kOther},
    {"04-link-flap", 1, "", "- {at: 250us, link_down: {link: \"p0.t0-0:u[0-1]\", for: 40us}}", "more than one"},
    {"04-link-flap", 1, "", "- {at: 250us, link_down: {link: \"p0.t0-0:u0\", for: 4us}}", kEarly},
    {"04-link-flap", 1, "", "- {at: 250us, flap: {link: \"p0.t0-0:u0\", count: 5, down: 10us, up: 15us}}", "no link_down"},
    {"04-link-flap", 2, "", "- {at: 250us, link_down: {link: \"p0.t0-0:u0\", for: 40us}}", "no flap"},
    {"04-link-flap", 2, "", "- {at: 250us, flap: {link: \"p0.t0-0:u0\", count: 1, down: 10us, up: 15us}}", "its count"},
    {"04-link-flap", 2, "", "- {at: 250us, flap: {link: \"p0.t0-0:u0\", count: 5, down: 1us, up: 15us}}", "its down"},
    {"04-link-flap", 2, "", "- {at: 250us, flap: {link: \"h0:p0\", count: 5, down: 10us, up: 15us}}", kOther},
    {"04-link-flap", 2, "", "- {at: 250us, healed: 265us, flap: {link: \"p0.t0-0:u0\", count: 5, down: 10us, up: 15us}}", "ended by hand"},
    {"05-optic-glitch", 1, "", "- {at: 300us, optic_glitch: {optic: \"p0.t0-0:o0\", down: 10us, stagger: 20us}}", "its down"},
    {"05-optic-glitch", 1, "", "- {at: 300us, optic_glitch: {optic: \"p0.t0-1:o0\", down: 100us, stagger: 20us}}", kOther},
    {"05-optic-glitch", 1, "", "- {at: 300us, link_down: {link: \"h0:p0\", for: 100us}}", "no optic_glitch"},
    {"05-optic-glitch", 2, "", "- {at: 300us, optic_glitch: {optic: \"p0.t0-0:o0\", down: 100us, stagger: 20us}}", kTransport},
    {"05-optic-glitch", 2, "{profile: lab, port_status: off}", "- {at: 300us, switch_hang: {switch: \"p[0-7].t1-0\", for: 100us}}", "no optic_glitch"},
    {"06-switch-lies", 1, "", "- {at: 250us, switch_hang: {switch: p2.t0-1, for: 60us}}", kOther},
    {"06-switch-lies", 1, "", "- {at: 250us, switch_crash: {switch: p2.t1-1, for: 60us}}", "no switch_hang"},
    {"06-switch-lies", 1, "", "- {at: 250us, blackhole: {link: \"p2.t0-0:u1\", for: 60us}}", "no switch_hang"},
    {"06-switch-lies", 2, "", "- {at: 250us, switch_hang: {switch: p2.t1-1, for: 60us}}", "no switch_missing_route"},
    {"06-switch-lies", 2, "", "- {at: 250us, switch_missing_route: {route: \"p0.t1-0:d0\", for: 60us}}", kOther},
    {"06-switch-lies", 2, "", "- {at: 250us, switch_hang: {switch: p2.t1-1}}\n- {at: 260us, switch_missing_route: {route: \"p0.t0-0:u0\", for: 60us}}", "not over"},
    {"07-incast", 1, "", "- {at: 250us, incast: {from: \"h[9-15]\", to: h0, size: 1MiB}}", "not on all"},
    {"07-incast", 1, "", "- {at: 250us, incast: {from: \"h[8-15]\", to: h0, size: 64KiB}}", "its size"},
    {"07-incast", 1, "", "- {at: 250us, incast: {from: \"h[8-15]\", to: h2, size: 1MiB}}", kOther},
    {"07-incast", 2, "", "- {at: 250us, incast: {from: \"h[8-15]\", to: h0, size: 1MiB}}", kTransport},
    {"07-incast", 2, "{profile: roce}", "- {at: 250us, incast: {from: \"h[8-15]\", to: h0, size: 1MiB}}", kTransport},
    {"07-incast", 2, "{profile: roce, dcqcn: off}", "- {at: 250us, pause_storm: {host: h0, for: 300us}}", "no incast"},
    {"07-incast", 3, "{profile: roce, dcqcn: off}", "- {at: 250us, incast: {from: \"h[8-15]\", to: h0, size: 1MiB}}", kTransport},
    {"07-incast", 3, "{profile: roce, dcqcn: hpcc}", "- {at: 250us, incast: {from: \"h[8-15]\", to: h0, size: 64KiB}}", "its size"},
    {"08-without-pfc", 1, "", "- {at: 250us, pause_storm: {host: h1, for: 300us}}", kOther},
    {"08-without-pfc", 1, "", "- {at: 250us, pause_storm: {host: h0, for: 3us}}", kEarly},
    {"08-without-pfc", 1, "", "- {at: 250us, pcie_stall: {host: h0, for: 300us}}", "no pause_storm"},
    {"08-without-pfc", 2, "", "- {at: 250us, pause_storm: {host: h0, for: 300us}}", kTransport},
    {"08-without-pfc", 2, "{profile: roce, dcqcn: off}", "- {at: 250us, slow_receiver: {host: h0, share: 1%, for: 300us}}", "no pause_storm"},
    {"08-without-pfc", 3, "{profile: roce, dcqcn: off}", "- {at: 250us, pause_storm: {host: h0, for: 300us}}", kTransport},
    {"08-without-pfc", 3, "{profile: roce}", "- {at: 250us, pause_storm: {host: h0, for: 3us}}", kEarly},
    {"09-dead-port", 1, "", "- {at: 300us, port_down: {port: \"h4:p2\"}}", kOther},
    {"09-dead-port", 1, "", "- {at: 300us, port_down: {port: \"h3:p2\", for: 100us}}", kEarly},
    {"09-dead-port", 1, "", "- {at: 300us, plane_down: {plane: p2}}", "no port_down"},
    {"09-dead-port", 2, "", "- {at: 300us, port_down: {port: \"h3:p[0-2]\"}}", "not on all"},
    {"09-dead-port", 2, "", "- {at: 300us, plane_down: {plane: \"p[0-3]\"}}", "no port_down"},
    {"09-dead-port", 3, "", "- {at: 300us, port_down: {port: \"h*:p2\"}}", "no plane_down"},
    {"09-dead-port", 3, "", "- {at: 300us, plane_down: {plane: p3}}", kOther},
    {"09-dead-port", 3, "", "- {at: 280us, port_down: {port: \"h3:p2\"}}\n- {at: 300us, plane_down: {plane: p2}}", "not over"},
    {"10-when-it-stops", 1, "", "- {at: 300us, nic_dead: {host: h2}}", kOther},
    {"10-when-it-stops", 1, "", "- {at: 300us, nic_dead: {host: h0, for: 900us}}", kEarly},
    {"10-when-it-stops", 1, "", "- {at: 300us, port_down: {port: \"h0:p[0-7]\"}}", "no nic_dead"},
    {"10-when-it-stops", 2, "", "- {at: 300us, link_down: {link: \"p*.t0-0:u[1-2]\"}}", "not on all"},
    {"10-when-it-stops", 2, "", "- {at: 300us, link_down: {link: \"p*.t0-0:u[0-3]\"}}", kOther},
    {"10-when-it-stops", 2, "", "- {at: 300us, port_down: {port: \"h[0-1]:p[0-3]\"}}", "no link_down"},
    {"11-planted-bug", 1, "", "- {at: 250us, plane_down: {plane: p0, for: 60us}}", "no switch_hang"},
    {"11-planted-bug", 1, "", "- {at: 250us, switch_hang: {switch: \"p0.t1-*\"}}", "has not ended"},
    {"11-planted-bug", 3, "", "- {at: 250us, switch_hang: {switch: \"p0.t1-*\", for: 60us}}", kTransport},
    {"11-planted-bug", 3, "{profile: lab}", "- {at: 250us, link_down: {link: \"p0.t0-0:u0\", for: 60us}}", "no switch_hang"},
    {"12-plan-131072", 4, "", "- {at: 250us, link_down: {link: \"p1.t0-0:u0\"}}", kOther},
    {"12-plan-131072", 4, "", "- {at: 250us, link_down: {link: \"p0.t0-0:u0\", for: 20us}}", kEarly},
    {"13-one-straggler", 1, "", "- {at: 240us, host_pause: {host: h4, for: 60us}}", kOther},
    {"13-one-straggler", 1, "", "- {at: 240us, host_pause: {host: h3, for: 6us}}", "its for"},
    {"13-one-straggler", 1, "", "- {at: 240us, slow_receiver: {host: h3, share: 10%, for: 60us}}", "no host_pause"},
    {"13-one-straggler", 2, "", "- {at: 240us, rate: {link: \"p0.t0-0:u1\", to: 50Gb/s}}", kOther},
    {"13-one-straggler", 2, "", "- {at: 240us, rate: {link: \"p0.t0-0:u0\", to: 50Gb/s, for: 100us}}", kEarly},
    {"13-one-straggler", 2, "", "- {at: 240us, link_down: {link: \"p0.t0-0:u0\"}}", "no rate"},
    {"14-what-did-it-cost", 1, "", "- {at: 250us, port_down: {port: \"h3:p[0-2]\", for: 40us}}", "not on all"},
    {"14-what-did-it-cost", 1, "", "- {at: 250us, port_down: {port: \"h4:p[0-3]\", for: 40us}}", kOther},
    {"14-what-did-it-cost", 1, "", "- {at: 250us, nic_dead: {host: h3, for: 40us}}", "no port_down"},
    {"14-what-did-it-cost", 2, "", "- {at: 250us, port_down: {port: \"h3:p[0-3]\", for: 40us}}", "begins before"},
    {"14-what-did-it-cost", 2, "", "- {at: 390us, port_down: {port: \"h3:p[0-3]\", for: 4us}}", "its for"},
    {"12-plan-131072", 4, "", "- {at: 250us, denylist: {host: h0, path: p0/u0}}", "no link_down"},
};
// clang-format on

}  // namespace

TEST_CASE("a task is not done by the nearest wrong deeds, by another task's, or by doing nothing") {
  std::map<std::string, std::set<size_t>> covered;
  for (const Row& row : kWrong) {
    CAPTURE(row.lesson);
    CAPTURE(row.task);
    CAPTURE(row.faults);
    const Lesson& lesson = find_lesson(row.lesson);
    const LessonTask& task = lesson.tasks.at(row.task - 1);
    const std::string missing =
        missing_for(lesson, task, session_of(lesson, row.options, row.faults));
    CHECK_MESSAGE(missing.find(row.missing) != std::string::npos, missing);
    covered[row.lesson].insert(row.task);
  }
  for (const Lesson& lesson : lessons()) {
    for (size_t i = 0; i < lesson.tasks.size(); ++i) {
      const LessonTask& task = lesson.tasks[i];
      if (!task.answer.empty()) continue;
      CAPTURE(lesson.name);
      CAPTURE(i + 1);
      CHECK(covered[lesson.name].contains(i + 1));
      CHECK(missing_for(lesson, task, scenario_of(lesson)) != "");
      for (size_t other = 0; other < lesson.tasks.size(); ++other) {
        if (other == i || !lesson.tasks[other].answer.empty()) continue;
        // The same fault under the same transport is the same deed.
        if (lesson.tasks[other].solution == task.solution &&
            lesson.tasks[other].options == task.options) {
          continue;
        }
        CAPTURE(other + 1);
        CHECK(missing_for(lesson, task, solved(lesson, lesson.tasks[other])) != "");
      }
    }
  }
}

TEST_CASE("a task is done in the ways that it leaves open") {
  const Row kRight[] = {
      {"01-one-packet", 1, "",
       "- {at: 50us, denylist: {host: h0, path: \"p1/*\"}}\n"
       "- {at: 52us, denylist: {host: h1, path: \"p1/*\"}}",
       ""},
      {"02-many-paths", 1, "{profile: lab, spray: off, qps: 1}", "", ""},
      {"03-loss-trim-mark", 1, "",
       "- {at: 60us, wire_loss: {link: \"p3.t0-1:u2\", direction: both, loss: 10%, for: 50us}}",
       ""},
      {"03-loss-trim-mark", 2, "", "- {at: 70us, incast: {from: \"h[1-7]\", to: h0, size: 1MiB}}",
       ""},
      {"04-link-flap", 1, "", "- {at: 300us, link_down: {link: \"p5.t0-1:u3\", for: 60us}}", ""},
      {"04-link-flap", 1, "", "- {at: 250us, healed: 300us, link_down: {link: \"p5.t0-1:u3\"}}",
       ""},
      {"04-link-flap", 2, "",
       "- {at: 240us, link_down: {link: \"p0.t0-0:u0\", for: 5us}}\n"
       "- {at: 250us, flap: {link: \"p1.t0-0:u0\", count: 5, down: 10us, up: 15us}}",
       ""},
      {"10-when-it-stops", 1, "", "- {at: 310us, nic_dead: {host: h4}}", ""},
      {"11-planted-bug", 1, "", "- {at: 255us, switch_hang: {switch: \"p6.t1-*\", for: 60us}}", ""},
  };
  for (const Row& row : kRight) {
    CAPTURE(row.lesson);
    CAPTURE(row.faults);
    const Lesson& lesson = find_lesson(row.lesson);
    CHECK(missing_for(lesson, lesson.tasks.at(row.task - 1),
                      session_of(lesson, row.options, row.faults)) == "");
  }
}

TEST_CASE("another session than the lesson's does none of its tasks") {
  const Lesson& lesson = find_lesson("04-link-flap");
  const Scenario right = solved(lesson, lesson.tasks[0]);
  const auto missing = [&](auto&& change) {
    Scenario session = right;
    change(session);
    return missing_for(lesson, lesson.tasks[0], session);
  };
  CHECK(missing([](Scenario&) {}) == "");
  CHECK(missing([](Scenario& s) { s.seed = 2; }).find("the seed 2") != std::string::npos);
  CHECK(missing([](Scenario& s) { s.end = FabricTime::from_us(500); }).find("the end") !=
        std::string::npos);
  CHECK(missing([](Scenario& s) { s.workload.clear(); }).find("another workload") !=
        std::string::npos);
  CHECK(missing([](Scenario& s) {
          std::get<endpoint::PermutationSpec>(s.workload[0]).load = Probability{1};
        }).find("another workload") != std::string::npos);
  CHECK(missing([](Scenario& s) { s.fabric.queues.trim = false; }).find("another fabric") !=
        std::string::npos);
  CHECK(missing([](Scenario& s) { s.without = {"trim"}; }).find("switched off") !=
        std::string::npos);
}

}  // namespace mrclab::lab
