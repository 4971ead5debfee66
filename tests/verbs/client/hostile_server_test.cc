// A server whose replies cannot be right, or that goes away: verbs fail, programs go on.

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <random>

#include <doctest/doctest.h>

#include "tests/verbs/client/program.h"

namespace mrclab::verbs::client_test {
namespace {

/// Everything that asks the server, whatever becomes of it; nothing is expected but that each call returns.
void use_everything(const Verbs& verbs) {
  ibv_device** list = verbs.get_device_list(nullptr);
  ibv_context* context =
      list != nullptr && list[0] != nullptr ? verbs.open_device(list[0]) : nullptr;
  if (context == nullptr) {
    return;
  }
  ibv_port_attr port{};
  verbs.query_port(context, 1, reinterpret_cast<_compat_ibv_port_attr*>(&port));
  ibv_gid gid;
  verbs.query_gid(context, 1, 0, &gid);
  ibv_pd* pd = verbs.alloc_pd(context);
  static char memory[4096];
  ibv_mr* mr =
      pd != nullptr ? verbs.reg_mr(pd, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE) : nullptr;
  ibv_comp_channel* channel = verbs.create_comp_channel(context);
  ibv_cq* cq = verbs.create_cq(context, 16, nullptr, channel, 0);
  ibv_srq_init_attr shared{nullptr, {16, 1, 0}};
  ibv_srq* srq = pd != nullptr ? verbs.create_srq(pd, &shared) : nullptr;
  if (srq != nullptr) {
    ibv_srq_attr at{};
    verbs.query_srq(srq, &at);
    verbs.destroy_srq(srq);
  }
  if (pd != nullptr && cq != nullptr) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = ibv_qp_cap{8, 8, 2, 2, 0};
    init.qp_type = IBV_QPT_RC;
    ibv_qp* qp = verbs.create_qp(pd, &init);
    if (qp != nullptr) {
      ibv_qp_attr at{};
      at.qp_state = IBV_QPS_INIT;
      at.port_num = 1;
      verbs.modify_qp(qp, &at,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
      ibv_recv_wr wr{};
      ibv_recv_wr* bad = nullptr;
      ibv_post_recv(qp, &wr, &bad);
      verbs.query_qp(qp, &at, 0, &init);
      verbs.destroy_qp(qp);
    }
    ibv_wc wc;
    ibv_poll_cq(cq, 1, &wc);
    ibv_req_notify_cq(cq, 0);
  }
  if (cq != nullptr) {
    verbs.destroy_cq(cq);
  }
  if (channel != nullptr) {
    verbs.destroy_comp_channel(channel);
  }
  if (mr != nullptr) {
    verbs.dereg_mr(mr);
  }
  if (pd != nullptr) {
    verbs.dealloc_pd(pd);
  }
  verbs.close_device(context);
}

LoopbackOptions spoilt(std::function<void(Op, std::vector<uint8_t>&)> spoil) {
  LoopbackOptions options;
  options.capabilities |= kCanSrq;
  options.spoil = std::move(spoil);
  return options;
}

}  // namespace

TEST_CASE(
    "replies that are too short, too long, of another request or without a sense fail the call alone") {
  for (uint32_t op = static_cast<uint32_t>(Op::kHello); op <= static_cast<uint32_t>(Op::kFlushWork);
       ++op) {
    for (int way = 0; way < 6; ++way) {
      CAPTURE(op);
      CAPTURE(way);
      CHECK(run_program(spoilt([op, way](Op of, std::vector<uint8_t>& reply) {
                          if (static_cast<uint32_t>(of) != op) {
                            return;
                          }
                          ReplyHeader head;
                          std::memcpy(&head, reply.data(), sizeof(head));
                          switch (way) {
                            case 0: reply.resize(7); return;
                            case 1: reply.resize(reply.size() + 64); break;
                            case 2: head.op = Op::kExit; break;
                            case 3: head.status = -1; break;
                            case 4:
                              std::memset(reply.data() + sizeof(head), 0xFF,
                                          reply.size() - sizeof(head));
                              break;
                            default: reply.clear(); return;  // hangs up
                          }
                          std::memcpy(reply.data(), &head, sizeof(head));
                        }),
                        use_everything) == "");
    }
  }
}

TEST_CASE("replies with random bytes in them crash no program and hang none") {
  std::mt19937 random(53);
  for (int i = 0; i < 150; ++i) {
    const auto seed = random();
    CAPTURE(seed);
    std::mt19937 own(seed);
    CHECK(run_program(spoilt([&own](Op, std::vector<uint8_t>& reply) {
                        if (own() % 4 == 0) {
                          // The header stays: what is behind it is what this looks for.
                          for (size_t at = sizeof(ReplyHeader); at < reply.size(); ++at) {
                            reply[at] = own() % 3 == 0 ? static_cast<uint8_t>(own()) : reply[at];
                          }
                        }
                      }),
                      use_everything) == "");
  }
}

TEST_CASE("without its server a program's requests are flushed, and what it asks fails with EIO") {
  int rounds = 0;
  CHECK(run_program(
            {},
            [](const Verbs& verbs) {
              ConnectedPair pair(verbs, 8, nullptr);
              // The peer has no receive: this one waits in the server until that is gone.
              ibv_sge sge;
              ibv_send_wr wr = pair.write(sge, 5, 8, 0);
              wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
              expect(pair.post(wr) == 0, "post");
              ibv_recv_wr receive{};
              receive.wr_id = 6;
              ibv_recv_wr* bad = nullptr;
              expect(ibv_post_recv(pair.qp[0], &receive, &bad) == 0, "post_recv");
              const ibv_wc first = pair.next();
              const ibv_wc second = pair.next();
              expect(first.status == IBV_WC_WR_FLUSH_ERR && second.status == IBV_WC_WR_FLUSH_ERR,
                     "flushed");
              expect(first.wr_id + second.wr_id == 11, "both");
              expect(pair.post(wr) == EIO && errno == EIO, "post without a server");
              expect(verbs.alloc_pd(pair.context) == nullptr && errno == EIO, "alloc_pd");
              expect(
                  verbs.create_cq(pair.context, 8, nullptr, nullptr, 0) == nullptr && errno == EIO,
                  "create_cq");
              pair.destroy();  // it can still clean up
            },
            [&rounds](LoopbackServer& server) {
              if (++rounds == 2000) {
                server.hang_up();
              }
            }) == "");
}

TEST_CASE(
    "a forked child is detached, and the connection ends with the parent though the child lives") {
  CHECK(run_program({}, [](const Verbs& verbs) {
          ConnectedPair pair(verbs, 8, nullptr);
          const pid_t child = fork();
          if (child == 0) {
            const bool detached =
                verbs.create_cq(pair.context, 8, nullptr, nullptr, 0) == nullptr && errno == EIO;
            ibv_sge sge;
            ibv_send_wr wr = pair.write(sge, 1, 8, 0);
            _exit(detached && pair.post(wr) == EIO ? 0 : 1);
          }
          int status = 0;
          waitpid(child, &status, 0);
          expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child's call");
          ibv_sge sge;
          ibv_send_wr wr = pair.write(sge, 1, 8, IBV_SEND_SIGNALED);
          expect(pair.post(wr) == 0 && pair.next().status == IBV_WC_SUCCESS, "the parent goes on");
          pair.destroy();
        }) == "");
}

TEST_CASE(
    "an event of the port is read and acknowledged, one of an object that is gone is passed over") {
  bool sent = false;
  CHECK(run_program(
            {},
            [](const Verbs& verbs) {
              ConnectedPair pair(verbs, 8, nullptr);
              ibv_async_event event{};
              expect(verbs.get_async_event(pair.context, &event) == 0, "get_async_event");
              expect(event.event_type == IBV_EVENT_PORT_ERR && event.element.port_num == 1,
                     "PORT_ERR of port 1");
              verbs.ack_async_event(&event);
              pair.destroy();
            },
            [&sent](LoopbackServer& server) {
              if (!sent && server.has_pairs()) {
                server.send_event(AsyncEventWire{IBV_EVENT_QP_FATAL, 0x7777, 0});
                server.send_event(AsyncEventWire{99, 1, 0});
                server.send_event(AsyncEventWire{IBV_EVENT_PORT_ERR, 1, 0});
                sent = true;
              }
            }) == "");
}

}  // namespace mrclab::verbs::client_test
