// Jobs out of what NCCL logs with NCCL_DEBUG=INFO.

#include "job/import/nccl_log.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "job/graph/graph_check.h"
#include "job/import/measured_folder.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

/// A line of device `rank % 2` of host n0 or n1.
std::string line(uint32_t rank, const std::string& text) {
  return "n" + std::to_string(rank / 2) + ":41" + std::to_string(rank / 2) + ":77 [" +
         std::to_string(rank % 2) + "] NCCL INFO " + text + "\n";
}
std::string init(uint32_t rank) {
  return line(rank, "ncclCommInitRank comm 0x55d" + std::to_string(rank) + " rank " +
                        std::to_string(rank) +
                        " nranks 4 cudaDev 0 nvmlDev 0 busId 1b000 commId 0x9c1f - Init COMPLETE");
}
std::string call(uint32_t rank, const std::string& name, uint64_t count, int type, int root = 0) {
  return line(rank, name + ": opCount 1f sendbuff 0x7f recvbuff 0x7f count " +
                        std::to_string(count) + " datatype " + std::to_string(type) +
                        " op 0 root " + std::to_string(root) + " comm 0x55d" +
                        std::to_string(rank) + " [nranks=4] stream 0x5");
}

/// Two hosts with two devices each, whose ring goes 0 2 3 1.
std::string log_of(const std::string& rest) {
  std::string text =
      "starting, with [0] of 4\n1,0: " + line(0, "Bootstrap: Using eth0:10.0.0.1<0>");
  text += line(0, "Channel 00/02 : 0 2 3 1") + line(0, "Channel 01/02 : 0 1 2 3");
  text += line(0, "Trees [0] 1/-1/-1->0->-1") + line(0, "2 coll channels, 2 collnet channels");
  text += line(0, "Channel 00/0 : 0[0] -> 2[0] [send] via NET/IB/0/GDRDMA");
  text += line(2, "Channel 00/0 : 0[0] -> 2[0] [receive] via NET/IB/0/GDRDMA");
  text += line(2, "Channel 00/0 : 2[0] -> 3[1] via P2P/IPC/read");
  for (uint32_t rank = 0; rank < 4; ++rank) text += init(rank);
  return text + rest;
}

std::string calls(const std::string& name, uint64_t count, int type, int root = 0) {
  std::string text;
  for (uint32_t rank = 0; rank < 4; ++rank) text += call(rank, name, count, type, root);
  return text;
}

}  // namespace

TEST_CASE("a log of NCCL becomes the exchanges of its ranks, in the order of the ring") {
  const std::string text = log_of(calls("AllReduce", 1000, 7) + calls("AllGather", 500, 9) +
                                  calls("Broadcast", 8, 0, 3) + calls("Reduce", 8, 0) +
                                  call(1, "Send", 100, 6, 2) + call(2, "Recv", 100, 6, 1));
  REQUIRE(is_nccl_log(text));
  CHECK(measured_format(text) == TraceFormat::kNccl);
  std::vector<std::string> notes;
  const std::vector<MeasuredRank> ranks = read_measured(TraceFormat::kNccl, text, "a.log", &notes);
  CHECK(notes == std::vector<std::string>{
                     "1 communicator on 2 hosts",
                     "2 channels of collectives, rings in the order of the log, trees as well",
                     "1 connection by NET/IB, 1 connection by P2P"});
  REQUIRE(ranks.size() == 4);
  const Trace trace = measured_job(TraceFormat::kNccl, ranks, "a.log", {});
  check_graph(trace.graph);
  std::vector<Op> ops;
  std::copy_if(trace.graph.ops().begin(), trace.graph.ops().end(), std::back_inserter(ops),
               [](const Op& op) { return op.rank == 1; });
  REQUIRE(ops.size() == 4);
  CHECK(trace.graph.groups()[ops[0].group].ranks == std::vector<uint32_t>{0, 2, 3, 1});
  CHECK(ops[0].bytes == 4000);
  CHECK(ops[1].bytes == 500 * 2 * 4);  // of all ranks
  CHECK(ops[2].collective == Collective::kBroadcast);
  CHECK(ops[2].peer == 3);
  CHECK(ops[3].kind == OpKind::kSend);
  CHECK(ops[3].peer == 2);
  CHECK(ops[3].bytes == 200);
  CHECK(trace.graph.dependencies(ops[1]).size() == 1);  // behind the one before
  CHECK(trace.notes.back() == "4 exchanges left out: reduce, gather and scatter are not supported");
}

TEST_CASE("where no channel is written out the ring is what each rank says of its neighbours") {
  std::string text;
  for (const auto& [rank, next] : {std::pair(0, 2), {2, 3}, {3, 1}, {1, 0}}) {
    text += line(static_cast<uint32_t>(rank),
                 "Ring 00 : 9 -> " + std::to_string(rank) + " -> " + std::to_string(next));
    text += init(static_cast<uint32_t>(rank));
  }
  const auto ranks = read_measured(TraceFormat::kNccl, text + calls("AllReduce", 4, 7), "a");
  CHECK(ranks[3].exchanges[0].ranks == std::vector<uint32_t>{0, 2, 3, 1});
}

TEST_CASE("a log of NCCL that says too little is refused by its line") {
  const auto error = [](const std::string& text) {
    return test::error_of([&] { read_measured(TraceFormat::kNccl, text, "a.log"); });
  };
  CHECK(error(log_of("")).find("NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL") != std::string::npos);
  CHECK(error(init(0) + call(0, "AllReduce", 1, 7)).find("lines of 1 of its 4 ranks") !=
        std::string::npos);
  CHECK(
      error(init(0) + call(1, "AllReduce", 1, 7)).find("a.log:2: an exchange of a communicator") !=
      std::string::npos);
  CHECK(error(init(0) + call(0, "AllReduce", 1, 12)).find("datatype 0 to 11") != std::string::npos);
  CHECK(error(log_of(call(0, "Broadcast", 1, 7, 4))).find("root is no rank") != std::string::npos);
  CHECK(error(line(0, "comm 0x1 rank 4 nranks 4 - Init COMPLETE")).find("a.log:1: expected comm") !=
        std::string::npos);
  CHECK(error(line(0, "Channel 00/02 : 0 x")).find("a ring of ranks 0 to 1023") !=
        std::string::npos);
}
