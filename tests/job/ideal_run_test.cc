// Jobs on an ideal network, against times that are computed by hand.

#include <doctest/doctest.h>

#include <algorithm>

#include "job/graph/graph_check.h"
#include "job/graph/message_graph.h"
#include "job/import/goal_file.h"
#include "job/run/critical_path.h"
#include "job/run/ideal_run.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

constexpr IdealNetwork kNetwork{BitRate::from_gbps(8),
                                FabricTime::from_ns(100)};  // a byte a nanosecond

FabricTime last_end(const OpTimes& times) {
  FabricTime last;
  for (const OpTime& time : times) last = std::max(last, time.end);
  return last;
}

OpGraph one_collective(Collective collective, uint32_t ranks, uint64_t bytes,
                       Algorithm algorithm = Algorithm::kRing) {
  OpGraph graph(ranks);
  std::vector<uint32_t> all;
  for (uint32_t rank = 0; rank < ranks; ++rank) all.push_back(rank);
  const uint32_t group = graph.add_group("all", all);
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Op op;
    op.kind = OpKind::kCollective;
    op.collective = collective;
    op.algorithm = algorithm;
    op.rank = rank;
    op.group = group;
    op.bytes = bytes;
    graph.add(op);
  }
  check_graph(graph);
  return graph;
}

FabricTime sum_of(const std::vector<PathPiece>& path) {
  FabricTime sum;
  for (size_t i = 0; i < path.size(); ++i) {
    if (i > 0) CHECK(path[i].begin == path[i - 1].end);
    sum += path[i].end - path[i].begin;
  }
  return sum;
}

}  // namespace

TEST_CASE("computing, a message and computing take the sum of their times") {
  const Trace trace = read_goal_text(
      "num_ranks 2\nrank 0 {\na: calc 500\ns: send 1000b to 1\ns requires a\n}\n"
      "rank 1 {\nr: recv 1000b from 0\nc: calc 70\nc requires r\n}\n",
      "a.goal", {});
  const JobProgram program(trace.graph);
  const OpTimes times = ideal_times(program, kNetwork);
  CHECK(times[1].begin == FabricTime::from_ns(500));
  CHECK(times[2].end == FabricTime::from_ns(1600));
  CHECK(times[1].end == FabricTime::from_ns(1700));  // acknowledged
  CHECK(times[3].end == FabricTime::from_ns(1670));
  const std::vector<PathPiece> path = critical_path(program.messages(), times, 3);
  REQUIRE(path.size() == 3);
  CHECK(path[0].kind == PathPiece::Kind::kCompute);
  CHECK(path[1].kind == PathPiece::Kind::kMessage);
  CHECK(path[2].kind == PathPiece::Kind::kCompute);
  CHECK(sum_of(path) == FabricTime::from_ns(1670));
}

TEST_CASE("one lane computes one thing at a time, two lanes two") {
  const auto end_with = [](const std::string& lane) {
    const Trace trace =
        read_goal_text("num_ranks 1\nrank 0 {\ncalc 30\ncalc 50 cpu " + lane + "\n}\n", "a", {});
    return last_end(ideal_times(JobProgram(trace.graph), kNetwork));
  };
  CHECK(end_with("0") == FabricTime::from_ns(80));
  CHECK(end_with("1") == FabricTime::from_ns(50));
}

TEST_CASE("a ring all-reduce takes 2(n - 1) steps of a chunk each") {
  const JobProgram program(one_collective(Collective::kAllReduce, 4, 4000));
  const MessageGraph& job = program.messages();
  check_graph(job.graph);
  const OpTimes times = ideal_times(program, kNetwork);
  FabricTime received;
  for (size_t i = 0; i < times.size(); ++i) {
    if (job.graph.op(static_cast<uint32_t>(i)).kind == OpKind::kReceive)
      received = std::max(received, times[i].end);
  }
  CHECK(received == FabricTime::from_ns(6 * (1000 + 100)));
  CHECK(sum_of(critical_path(job, times)) == last_end(times));
}

TEST_CASE("the messages of every collective match, in groups of every size") {
  for (const Collective collective :
       {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather,
        Collective::kAllToAll, Collective::kBroadcast, Collective::kBarrier}) {
    for (const uint32_t ranks : {1u, 2u, 3u, 7u, 16u}) {
      for (const uint64_t bytes : {uint64_t{4}, uint64_t{100}, uint64_t{4096}}) {
        CAPTURE(name_of(collective));
        CAPTURE(ranks);
        CAPTURE(bytes);
        const JobProgram program(one_collective(collective, ranks, bytes));
        const MessageGraph& job = program.messages();
        CHECK_NOTHROW(check_graph(job.graph));
        const OpTimes times = ideal_times(program, kNetwork);
        CHECK(last_end(times) != FabricTime::never());
        CHECK(sum_of(critical_path(job, times)) == last_end(times));
        uint64_t sent = 0;
        for (const Op& op : job.graph.ops()) sent += op.kind == OpKind::kSend ? op.bytes : 0;
        const uint64_t others = ranks - 1;
        if (collective == Collective::kAllReduce) CHECK(sent == 2 * others * bytes);
        if (collective == Collective::kReduceScatter) CHECK(sent == others * bytes);
        if (collective == Collective::kAllGather) CHECK(sent == others * bytes);
        if (collective == Collective::kAllToAll) CHECK(sent == others * bytes);
        if (collective == Collective::kBroadcast) CHECK(sent == others * bytes);
      }
    }
  }
}

TEST_CASE(
    "an all-reduce over two trees sends as much as a ring, and its ranks wait for all others") {
  for (uint32_t ranks = 2; ranks <= 17; ++ranks) {
    CAPTURE(ranks);
    const JobProgram program(one_collective(Collective::kAllReduce, ranks, 8192, Algorithm::kTree));
    const OpGraph& graph = program.graph();
    REQUIRE_NOTHROW(check_graph(graph));
    uint64_t sent = 0;
    for (const Op& op : graph.ops()) sent += op.kind == OpKind::kSend ? op.bytes : 0;
    CHECK(sent == 2 * (ranks - 1) * 8192u);
    for (const OpTime& time : ideal_times(program, kNetwork))
      CHECK(time.end != FabricTime::never());
    // Who has sent what it received from all whose values it has: at the end that is everybody.
    std::vector<std::vector<bool>> has(graph.ops().size(), std::vector<bool>(ranks));
    for (size_t turn = 0; turn < 2 * ranks; ++turn) {
      for (uint32_t i = 0; i < graph.ops().size(); ++i) {
        const Op& op = graph.op(i);
        has[i][op.rank] = true;
        const auto take = [&](uint32_t other) {
          for (uint32_t r = 0; r < ranks; ++r) has[i][r] = has[i][r] || has[other][r];
        };
        for (const Dependency& dependency : graph.dependencies(op)) take(dependency.op);
        if (op.kind == OpKind::kReceive) take(program.partner(i));
      }
    }
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      const std::vector<bool>& at_end = has[program.ops_of(rank).back()];
      CHECK(std::all_of(at_end.begin(), at_end.end(), [](bool one) { return one; }));
    }
  }
}

TEST_CASE("an all-to-all with shares sends each receiver its own") {
  OpGraph graph = one_collective(Collective::kAllToAll, 3, 4000);
  OpGraph uneven(3);
  uneven.add_group("all", {0, 1, 2});
  const uint32_t shares = uneven.add_shares({1, 0, 3});
  for (Op op : graph.ops()) {
    op.shares = shares;
    uneven.add(op);
  }
  check_graph(uneven);
  std::vector<uint64_t> received(3);
  const JobProgram program(uneven);
  for (const Op& op : program.graph().ops()) {
    if (op.kind == OpKind::kReceive) received[op.rank] += op.bytes;
  }
  CHECK(received == std::vector<uint64_t>{2000, 0, 6000});
}

TEST_CASE("what waits for a collective waits for all of it, whichever stands first in the file") {
  OpGraph graph(2);
  const uint32_t group = graph.add_group("all", {0, 1});
  Op after;
  after.duration = FabricTime::from_ns(10);
  const std::vector<Dependency> waits{{1}};
  graph.add(after, waits);  // of rank 0, before the collective in the file
  for (uint32_t rank = 0; rank < 2; ++rank) {
    Op op;
    op.kind = OpKind::kCollective;
    op.rank = rank;
    op.group = group;
    op.bytes = 2000;
    graph.add(op);
  }
  check_graph(graph);
  const JobProgram program(graph);
  check_graph(program.graph());
  const OpTimes times = ideal_times(program, kNetwork);
  CHECK(times[0].begin == FabricTime::from_ns(2 * 1100 + 100));  // its last send is acknowledged
}

TEST_CASE("what waits for another rank waits for a word from there") {
  OpGraph graph(2);
  Op first;
  first.duration = FabricTime::from_ns(50);
  graph.add(first);
  Op second = first;
  second.rank = 1;
  const std::vector<Dependency> waits{{0}};
  graph.add(second, waits);
  check_graph(graph);
  const JobProgram program(graph);
  check_graph(program.graph());
  CHECK(program.graph().ops().size() == 4);
  const OpTimes times = ideal_times(program, kNetwork);
  CHECK(times[1].begin == FabricTime::from_ns(50 + 8 + 100));
}
