// Work requests and completions, as the library counts and writes them.

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tests/verbs/client/program.h"

namespace mrclab::verbs::client_test {
namespace {

ibv_comp_channel* channel_of(const Verbs& verbs, ibv_context* context) {
  return verbs.create_comp_channel(context);
}

}  // namespace

TEST_CASE("a write's bytes are where its completion says, more often than the work ring is long") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 64, nullptr);
          // Records of 72 to 136 bytes: over 20,000 of them the ring of 1 MiB ends within records, at changing places.
          for (uint64_t i = 0; i < 20'000; ++i) {
            const auto bytes = static_cast<uint32_t>(i % 64 + 1);
            std::memset(pair.memory, static_cast<int>(i), bytes);
            ibv_sge sge;
            ibv_send_wr wr = pair.write(sge, i, bytes, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
            expect(pair.post(wr) == 0, "post");
            if (i % 8 == 7) {
              for (uint64_t j = i - 7; j <= i; ++j) {
                const ibv_wc wc = pair.next();
                expect(
                    wc.status == IBV_WC_SUCCESS && wc.wr_id == j && wc.qp_num == pair.qp[0]->qp_num,
                    "completion");
              }
              expect(std::memcmp(pair.memory, pair.memory + 4096, bytes) == 0, "bytes");
            }
          }
          pair.destroy();
        }) == "");
}

TEST_CASE("inline data is what it was when it was posted") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 64, nullptr);
          std::memset(pair.memory, 'a', 64);
          ibv_sge sge;
          ibv_send_wr wr = pair.write(sge, 1, 64, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
          expect(pair.post(wr) == 0, "post");
          std::memset(pair.memory, 'b', 64);
          pair.next();
          expect(pair.memory[4096] == 'a' && pair.memory[4159] == 'a', "the old bytes");
          wr.send_flags |= IBV_SEND_INLINE;
          sge.length = 513;  // more than the queue pair was made for
          expect(pair.post(wr) == EINVAL && errno == EINVAL, "too long for inline");
        }) == "");
}

TEST_CASE(
    "a send queue is full at its depth, and unsignaled requests free their places with a later completion") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 8, nullptr);
          ibv_sge sge[9];
          ibv_send_wr wr[9];
          for (uint64_t i = 0; i < 9; ++i) {
            wr[i] = pair.write(sge[i], i, 8, 0);
            wr[i].next = i < 8 ? &wr[i + 1] : nullptr;
          }
          ibv_send_wr* bad = nullptr;
          expect(ibv_post_send(pair.qp[0], wr, &bad) == ENOMEM && bad == &wr[8],
                 "the ninth of eight");
          // None asked for a completion: the places stay taken, however long it is.
          ibv_wc wc;
          for (int i = 0; i < 3000; ++i) {
            expect(ibv_poll_cq(pair.cq, 1, &wc) == 0, "no completion");
          }
          expect(pair.post(wr[8]) == ENOMEM, "still full");
        }) == "");
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 8, nullptr);
          ibv_sge sge;
          for (uint64_t round = 0; round < 200; ++round) {
            for (uint64_t i = 0; i < 8; ++i) {
              ibv_send_wr wr = pair.write(
                  sge, 1, 8,
                  i == 7 ? unsigned{IBV_SEND_SIGNALED} : 0u);  // all of one number, as in perftest
              expect(pair.post(wr) == 0, "post");
            }
            expect(pair.next().status == IBV_WC_SUCCESS, "one completion for eight");
          }
          pair.destroy();
        }) == "");
}

TEST_CASE("a receive takes what was written with an immediate, and its place is free again") {
  uint32_t in_record = 0;
  CHECK(run_program(
            {},
            [](const Verbs& verbs) {
              ConnectedPair pair(verbs, 4, nullptr);
              for (uint32_t i = 0; i < 100; ++i) {
                ibv_recv_wr receive{};
                receive.wr_id = 1000 + i;
                ibv_recv_wr* bad = nullptr;
                expect(ibv_post_recv(pair.qp[1], &receive, &bad) == 0, "post_recv");
                ibv_sge sge;
                ibv_send_wr wr = pair.write(sge, i, 16, 0);
                wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
                wr.imm_data = htobe32(0xCAFE0000 + i);
                wr.send_flags = i % 4 == 3 ? unsigned{IBV_SEND_SIGNALED} : 0u;
                expect(pair.post(wr) == 0, "post");
                ibv_wc wc = pair.next();
                if (wc.opcode == IBV_WC_RDMA_WRITE) {
                  wc = pair.next();
                } else if (i % 4 == 3) {
                  pair.next();
                }
                expect(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.wr_id == 1000 + i &&
                           wc.byte_len == 16 && wc.wc_flags == IBV_WC_WITH_IMM &&
                           wc.imm_data == htobe32(0xCAFE0000 + i),
                       "the receive's completion");
              }
              pair.destroy();
            },
            [&in_record](LoopbackServer& server) { in_record = server.last_immediate(); }) == "");
  CHECK(in_record == htobe32(0xCAFE0000 + 99));
}

TEST_CASE(
    "a completion channel becomes readable once per arming, and destroying a queue waits for acknowledgements") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 8, channel_of);
          expect(ibv_req_notify_cq(pair.cq, 0) == 0, "arm");
          ibv_sge sge;
          for (uint64_t i = 0; i < 3; ++i) {
            ibv_send_wr wr = pair.write(sge, i, 8, IBV_SEND_SIGNALED);
            expect(pair.post(wr) == 0, "post");
          }
          ibv_cq* cq = nullptr;
          void* user = nullptr;
          expect(
              verbs.get_cq_event(pair.channel, &cq, &user) == 0 && cq == pair.cq && user == &pair,
              "event");
          for (int i = 0; i < 3; ++i) {
            pair.next();
          }
          verbs.ack_cq_events(cq, 1);
          expect(verbs.destroy_comp_channel(pair.channel) == EBUSY, "a channel with a queue");
          pair.destroy();
        }) == "");
}

TEST_CASE("threads share a queue pair and a completion queue: each request completes once") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 32, nullptr);
          constexpr uint64_t kEach = 3000;
          constexpr uint64_t kThreads = 3;
          std::atomic<uint64_t> completed{0}, sum{0}, wrong{0};
          std::vector<std::thread> threads;
          for (uint64_t thread = 0; thread < kThreads; ++thread) {
            threads.emplace_back([&, thread] {
              ibv_sge sge;
              uint64_t posted = 0;
              while (completed.load() < kThreads * kEach && wrong.load() == 0) {
                ibv_send_wr wr = pair.write(sge, thread * kEach + posted, 8, IBV_SEND_SIGNALED);
                const int error = posted < kEach ? pair.post(wr) : ENOMEM;
                posted += error == 0 ? 1 : 0;
                wrong += error != 0 && error != ENOMEM ? 1 : 0;
                ibv_wc wc[4];
                const int count = ibv_poll_cq(pair.cq, 4, wc);
                for (int at = 0; at < count; ++at) {
                  wrong += wc[at].status == IBV_WC_SUCCESS ? 0 : 1;
                  sum += wc[at].wr_id;
                }
                completed += static_cast<uint64_t>(count > 0 ? count : 0);
              }
            });
          }
          for (std::thread& thread : threads) thread.join();
          constexpr uint64_t kAll = kThreads * kEach;
          expect(
              wrong.load() == 0 && completed.load() == kAll && sum.load() == kAll * (kAll - 1) / 2,
              "once each");
          pair.destroy();
        }) == "");
}

TEST_CASE("a SEND on a device without is refused, and named") {
  LoopbackOptions mrc;
  mrc.capabilities = kCanWrite;
  mrc.device = "mrc0";
  mrc.transport = 0;
  CHECK(run_program(mrc, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 8, nullptr);
          expect(std::strcmp(pair.context->device->name, "mrc0") == 0, "name");
          ibv_sge sge;
          ibv_send_wr wr = pair.write(sge, 1, 8, IBV_SEND_SIGNALED);
          ibv_send_wr* bad = nullptr;
          for (const ibv_wr_opcode opcode :
               {IBV_WR_SEND, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
            wr.opcode = opcode;
            expect(ibv_post_send(pair.qp[0], &wr, &bad) == EOPNOTSUPP && errno == EOPNOTSUPP &&
                       bad == &wr,
                   "refused");
          }
          wr.opcode = IBV_WR_RDMA_WRITE;
          expect(pair.post(wr) == 0 && pair.next().status == IBV_WC_SUCCESS, "a write still goes");
        }) == "");
}

TEST_CASE(
    "an object whose handle or context the program changed is refused, and good again when it is put back") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 8, nullptr);
          const auto garbled = [](uint32_t& handle, auto destroy) {
            handle ^= 0x5555;
            expect(destroy() == ENOENT && errno == ENOENT, "a garbled handle");
            handle ^= 0x5555;
          };
          garbled(pair.qp[0]->handle, [&] { return verbs.destroy_qp(pair.qp[0]); });
          garbled(pair.cq->handle, [&] { return verbs.destroy_cq(pair.cq); });
          garbled(pair.mr->handle, [&] { return verbs.dereg_mr(pair.mr); });
          garbled(pair.pd->handle, [&] { return verbs.dealloc_pd(pair.pd); });
          ibv_pd* const idle = verbs.alloc_pd(pair.context);
          ibv_context* const own = std::exchange(idle->context, nullptr);
          expect(verbs.dealloc_pd(idle) == ENOENT && errno == ENOENT, "another context");
          idle->context = own;
          expect(verbs.dealloc_pd(idle) == 0, "its own context");
          expect(verbs.dealloc_pd(pair.pd) == EBUSY && verbs.destroy_cq(pair.cq) == EBUSY,
                 "in use");
          pair.destroy();
        }) == "");
}

}  // namespace mrclab::verbs::client_test
