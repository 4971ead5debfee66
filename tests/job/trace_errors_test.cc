// What is wrong with a job's file is named with its place.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "job/graph/graph_check.h"
#include "job/import/cm_file.h"
#include "job/import/goal_file.h"
#include "job/import/simai_file.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::job;
using mrclab::test::error_of;

namespace {

std::string error_of_cm(const std::string& text, TraceOptions options = {}) {
  return error_of([&] { check_graph(read_cm(text, "a.cm", options).graph); });
}
std::string error_of_goal(const std::string& text) {
  return error_of([&] { check_graph(read_goal_text(text, "a.goal", {}).graph); });
}
std::string error_of_simai(const std::string& text, uint32_t ranks) {
  TraceOptions options;
  options.ranks = ranks;
  return error_of([&] { check_graph(read_simai(text, "a.txt", options).graph); });
}
bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a connection matrix that is wrong is refused with its line") {
  CHECK(error_of_cm("Nodes 2\nConnections 1\n0->1 start 0 size 8\n") == "no error");
  CHECK(
      has(error_of_cm("Nodes 2\nConnections 3\n0->1 start 0 size 8\n"), "Connections 3, found 1"));
  CHECK(has(error_of_cm("Nodes 2\n0->2 start 0 size 8\n"),
            "a.cm:2: found host \"2\": expected 0 to 1"));
  CHECK(has(error_of_cm("Nodes 2\n0->1 size 8\n"), "a.cm:2: a flow needs a start or a trigger"));
  CHECK(has(error_of_cm("Nodes 2\n0->1 start 0 size 0\n"), "found \"0\": expected bytes, 1 to"));
  CHECK(has(error_of_cm("Nodes 2\n0->1 start 5 size 8\n"), "start 5 without a unit"));
  CHECK(has(error_of_cm("Nodes 2\n0->1 trigger 7 size 8\n"), "trigger 7 is not declared"));
  CHECK(has(error_of_cm("Nodes 2\n0->1 trigger 7 size 8\ntrigger id 7 oneshot\n"),
            "is fired by nothing"));
  CHECK(
      has(error_of_cm("Nodes 2\n0->1 trigger 1 size 8 send_done_trigger 1\ntrigger id 1 oneshot\n"),
          "a circle"));
  CHECK(has(error_of_cm("Nodes 2\n0->0 start 0 size 8\n"), "to itself"));
  CHECK(has(error_of_cm("Nodes 2\nFailures 1\n"), "faults:"));
  CHECK(has(error_of_cm(""), "no \"Nodes\" line"));
}

TEST_CASE("a start has the unit that was named") {
  TraceOptions options;
  options.time_unit = TimeUnit::kMicroseconds;
  const Trace trace = read_cm("Nodes 2\n0->1 start 5 size 8\n", "a.cm", options);
  CHECK(trace.graph.op(0).not_before == FabricTime::from_us(5));
}

TEST_CASE("a barrier waits for all flows that fire it") {
  const std::string head =
      "Nodes 3\n0->1 start 0 size 8 recv_done_trigger 1\n2->1 start 0 size 8 recv_done_trigger 1\n"
      "1->0 trigger 1 size 8\n";
  const Trace trace = read_cm(head + "trigger id 1 barrier count 2\n", "a.cm", {});
  const Op& last = trace.graph.op(4);
  REQUIRE(last.kind == OpKind::kSend);
  REQUIRE(last.dependencies == 2);
  CHECK(trace.graph.op(trace.graph.dependencies(last)[0].op).kind == OpKind::kReceive);
  CHECK(has(error_of_cm(head + "trigger id 1 barrier count 1\n"), "waits for 1 of 2"));
  CHECK(has(error_of_cm(head + "trigger id 1 oneshot\n"), "is fired by 2 flows"));
}

TEST_CASE("a GOAL text that is wrong is refused with its line") {
  const std::string good =
      "num_ranks 2\nrank 0 {\na: calc 5 cpu 1\ns: send 8b to 1 tag 3\ns requires a\n}\n"
      "rank 1 {\nrecv 8b from 0 tag 3\n}\n";
  CHECK(error_of_goal(good) == "no error");
  CHECK(error_of_goal("/* a\nb */num_ranks 1 // c\nrank 0 {\n}\n") == "no error");
  CHECK(has(error_of_goal("num_ranks 2\nrank 0 {\nsend 8 to 1\n"),
            "a.goal:3: found \"8\": expected bytes as"));
  CHECK(has(error_of_goal("num_ranks 1\nrank 0 {\na requires b\n}\n"),
            "a.goal:3: label \"a\" is not defined"));
  CHECK(has(error_of_goal("num_ranks 1\nrank 0 {\n"), "has no \"}\""));
  CHECK(has(error_of_goal("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\n}\n"),
            "nobody receives it"));
  CHECK(has(error_of_goal("num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\nrecv 9b from 0\n}\n"),
            "differ in size"));
  CHECK(has(
      error_of_goal("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n"),
      "a circle"));
}

TEST_CASE("receives of any rank or tag take the oldest message that fits") {
  const Trace trace = read_goal_text(
      "num_ranks 3\nrank 0 {\nsend 8b to 2 tag 7\n}\nrank 1 {\nsend 8b to 2 tag 5\n}\n"
      "rank 2 {\nrecv 8b from -1 tag 5\nrecv 8b from -1 tag -1\n}\n",
      "a.goal", {});
  const std::vector<uint32_t> partner = message_partners(trace.graph);
  CHECK(partner == std::vector<uint32_t>{3, 2, 1, 0});
}

TEST_CASE("a SimAI file that is wrong is refused with its line") {
  const std::string head = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2\n1\n";
  const std::string layer = "x -1 10 ALLTOALL_EP 64 20 NONE 0 30 ALLREDUCE 64 1\n";
  CHECK(error_of_simai(head + layer, 8) == "no error");
  CHECK(has(error_of_simai(head + layer, 6), "expected a multiple of 4"));
  CHECK(has(error_of_simai(head, 8), "1 layers, found 0"));
  CHECK(has(error_of_simai(head + "x -1 10 ALLTWO 64 20 NONE 0 30 NONE 0 1\n", 8),
            "a.txt:3: found \"ALLTWO\""));
  CHECK(has(error_of_simai(head + "x -1 10\n", 8), "a layer of 3 words"));
  CHECK(has(error_of_simai("HYBRID_TRANSFORMER checkpoints: 2\n1\n" + layer, 8), "computed again"));
  CHECK(has(error_of_simai("WHAT\n", 8), "found policy \"WHAT\""));
}

TEST_CASE("what weights exchange is awaited by the same layer's next step, not before") {
  TraceOptions options;
  options.ranks = 2;
  options.steps = 2;
  const Trace trace = read_simai(
      "DATA model_parallel_NPU_group: 1\n2\n"
      "a -1 10 NONE 0 0 NONE 0 30 ALLREDUCE 64 1\nb -1 10 NONE 0 0 NONE 0 30 NONE 0 1\n",
      "a.txt", options);
  std::vector<uint32_t> exchanges, forwards;
  for (uint32_t i = 0; i < trace.graph.ops().size(); ++i) {
    const Op& op = trace.graph.op(i);
    if (op.rank != 0) continue;
    if (op.kind == OpKind::kCollective) exchanges.push_back(i);
    if (op.line == 3 && op.duration == FabricTime::from_ns(10)) forwards.push_back(i);
  }
  REQUIRE(exchanges.size() == 2);
  REQUIRE(forwards.size() == 2);
  const auto waits = trace.graph.dependencies(trace.graph.op(forwards[1]));
  CHECK(std::any_of(waits.begin(), waits.end(),
                    [&](const Dependency& d) { return d.op == exchanges[0]; }));
}
