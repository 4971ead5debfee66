// SENDs on a device without: as writes into the peer's hidden ring.

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>

#include "tests/verbs/client/program.h"

namespace mrclab::verbs::client_test {
namespace {

LoopbackOptions mrc() {
  LoopbackOptions options;
  options.capabilities = kCanWrite;
  options.device = "mrc0";
  options.transport = 0;
  return options;
}

/// A program at whose ends SENDs are emulated.
std::string run_emulated(const std::function<void(const Verbs&, ConnectedPair&)>& program) {
  return run_program(mrc(), [&program](const Verbs& verbs) {
    setenv("MRCLAB_VERBS_SEND", "emulated", 1);
    ConnectedPair pair(verbs, 16, nullptr);
    program(verbs, pair);
  });
}

void post_receive(const ConnectedPair& pair, uint64_t id, char* to, uint32_t bytes) {
  ibv_sge sge{reinterpret_cast<uint64_t>(to), bytes, pair.mr->lkey};
  ibv_recv_wr wr{};
  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  expect(ibv_post_recv(pair.qp[1], &wr, &bad) == 0, "post_recv");
}

int send(const ConnectedPair& pair, uint64_t id, const char* text, uint32_t bytes,
         uint32_t immediate, unsigned flags) {
  std::memcpy(const_cast<char*>(pair.memory), text, bytes);
  ibv_sge sge{reinterpret_cast<uint64_t>(pair.memory), bytes, pair.mr->lkey};
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = immediate != 0 ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
  wr.imm_data = htobe32(immediate);
  wr.send_flags = flags;
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(pair.qp[0], &wr, &bad);
}

}  // namespace

TEST_CASE("emulated SENDs arrive in order, in their receives, over many times the hidden ring") {
  CHECK(run_emulated([](const Verbs&, ConnectedPair& pair) {
          char text[64];
          for (uint32_t i = 1; i <= 1000; ++i) {
            post_receive(pair, i, pair.memory + 1024, 64);
            const auto bytes =
                static_cast<uint32_t>(std::snprintf(text, sizeof(text), "message %u", i));
            expect(send(pair, 7000 + i, text, bytes, i % 2 == 0 ? i : 0, IBV_SEND_SIGNALED) == 0,
                   "send");
            for (int both = 0; both < 2; ++both) {
              const ibv_wc wc = pair.next();
              expect(wc.status == IBV_WC_SUCCESS, "status");
              if (wc.opcode == IBV_WC_RECV) {
                expect(wc.wr_id == i && wc.byte_len == bytes && wc.qp_num == pair.qp[1]->qp_num,
                       "receive");
                expect(wc.wc_flags == (i % 2 == 0 ? unsigned{IBV_WC_WITH_IMM} : 0u), "flags");
                expect(i % 2 != 0 || wc.imm_data == htobe32(i), "immediate");
              } else {
                expect(wc.opcode == IBV_WC_SEND && wc.wr_id == 7000 + i, "the sender's completion");
              }
            }
            expect(std::memcmp(pair.memory + 1024, text, bytes) == 0, "bytes");
          }
          pair.destroy();
        }) == "");
}

TEST_CASE("a program's own Writes with Immediate among emulated SENDs stay what they are") {
  CHECK(run_emulated([](const Verbs&, ConnectedPair& pair) {
          for (uint32_t i = 1; i <= 300; ++i) {
            post_receive(pair, i, pair.memory + 1024, 64);
            const bool write = i % 3 != 0;
            if (write) {
              ibv_sge sge;
              ibv_send_wr wr = pair.write(sge, i, 8, IBV_SEND_SIGNALED);
              wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
              wr.imm_data = htobe32(i);
              expect(pair.post(wr) == 0, "write");
            } else {
              expect(send(pair, i, "send", 4, 0, IBV_SEND_SIGNALED) == 0, "send");
            }
            for (int both = 0; both < 2; ++both) {
              const ibv_wc wc = pair.next();
              expect(wc.status == IBV_WC_SUCCESS && wc.wr_id == i, "completion");
              const bool received = (wc.opcode & IBV_WC_RECV) != 0;
              expect(wc.opcode == (received ? (write ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV)
                                            : (write ? IBV_WC_RDMA_WRITE : IBV_WC_SEND)),
                     "what it is");
            }
          }
          pair.destroy();
        }) == "");
}

TEST_CASE("an emulated SEND that its receive is too short for completes it with a length error") {
  CHECK(run_emulated([](const Verbs&, ConnectedPair& pair) {
          post_receive(pair, 1, pair.memory + 1024, 3);
          expect(send(pair, 2, "four", 4, 0, 0) == 0, "send");
          expect(pair.next().status == IBV_WC_LOC_LEN_ERR, "status");
        }) == "");
}

TEST_CASE(
    "emulated SENDs that nobody receives fill the hidden ring and wait, and go on with the receives") {
  CHECK(run_emulated([](const Verbs& verbs, ConnectedPair& pair) {
          ibv_qp_attr at{};
          ibv_qp_init_attr init{};
          expect(verbs.query_qp(pair.qp[0], &at, 0, &init) == 0, "query");
          expect(init.cap.max_send_wr == 16, "the program's own depth");
          for (uint32_t i = 0; i < 16; ++i) {
            expect(send(pair, i, "text", 4, 0, IBV_SEND_SIGNALED) == 0, "send");
          }
          expect(send(pair, 16, "text", 4, 0, 0) == ENOMEM, "a full queue");
          for (uint32_t i = 0; i < 16; ++i) {
            post_receive(pair, 100 + i, pair.memory + 1024, 64);
          }
          for (uint32_t i = 0; i < 32; ++i) {
            expect(pair.next().status == IBV_WC_SUCCESS, "all of them");
          }
          pair.destroy();
        }) == "");
}

}  // namespace mrclab::verbs::client_test
