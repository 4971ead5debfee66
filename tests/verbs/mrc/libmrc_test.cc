// libmrc.so in programs, over our libibverbs.

#include <poll.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "tests/verbs/mrc/libmrc.h"

namespace mrclab::verbs::client_test {
namespace {

using namespace mrclab::mrc;

std::set<std::string> names_in(const std::string& library) {
  std::set<std::string> symbols;
  FILE* lines = popen(("nm -D --defined-only --without-symbol-versions " + library).c_str(), "r");
  REQUIRE(lines != nullptr);
  char line[512];
  char name[256];
  while (std::fgets(line, sizeof line, lines) != nullptr) {
    if (std::sscanf(line, "%*s %*s %255s", name) == 1) symbols.insert(name);
  }
  pclose(lines);
  return symbols;
}

}  // namespace

TEST_CASE("libmrc.so has the 27 functions of mrc.h, the 14 of mrc_ctl.h, and nothing else") {
  std::set<std::string> api;
  for (const char* name : {"query_device",
                           "query_device_ex",
                           "query_version",
                           "create_context",
                           "destroy_context",
                           "create_comp_channel",
                           "get_comp_channel_fd",
                           "destroy_comp_channel",
                           "create_cq",
                           "poll_cq",
                           "destroy_cq",
                           "req_notify_cq",
                           "get_cq_event",
                           "ack_cq_events",
                           "create_qp_hint",
                           "destroy_qp_hint",
                           "query_qp_hint",
                           "modify_qp_hint",
                           "create_qp",
                           "destroy_qp",
                           "modify_qp",
                           "query_qp",
                           "get_qpn",
                           "post_send",
                           "post_recv",
                           "get_async_event",
                           "ack_async_event",
                           "ctl_query_device",
                           "ctl_query_device_ex",
                           "ctl_query_version",
                           "ctl_query_port",
                           "ctl_modify_port",
                           "ctl_query_ev_fmt_profile",
                           "ctl_modify_ev_fmt_profile",
                           "ctl_query_ev_profile",
                           "ctl_modify_ev_profile",
                           "ctl_query_cc_profile",
                           "ctl_modify_cc_profile",
                           "ctl_create_ev_event_cq",
                           "ctl_poll_ev_event",
                           "ctl_ep_batch_send_wait"}) {
    api.insert(std::string("mrc_") + name);
  }
  CHECK(api.size() == 41);
  CHECK(names_in(libmrc_path()) == api);
}

TEST_CASE("a program that leaves all of MRC out writes, with and without data") {
  CHECK(run_program(mrc_device(), [](const Verbs& verbs) {
          const Mrc mrc;
          MrcPair pair(verbs, mrc);
          std::memset(pair.memory, 'x', 100);
          ibv_sge sge;
          ibv_send_wr* bad = nullptr;
          ibv_send_wr wr = pair.write(sge, 7, 100, IBV_SEND_SIGNALED);
          expect(mrc.post_send(pair.qp[0], &wr, &bad) == 0, "post");
          ibv_wc wc = pair.next();
          uint32_t qpn = 0;
          mrc.get_qpn(pair.qp[0], &qpn);
          expect(wc.wr_id == 7 && wc.status == IBV_WC_SUCCESS && wc.qp_num == qpn, "completion");
          expect(std::memcmp(pair.memory, pair.memory + 4096, 101) == 0, "bytes");

          ibv_recv_wr receive{};
          receive.wr_id = 9;
          ibv_recv_wr* bad_receive = nullptr;
          expect(mrc.post_recv(pair.qp[1], &receive, &bad_receive) == 0, "receive");
          wr = {};
          wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
          wr.imm_data = 0x01020304;
          expect(mrc.post_send(pair.qp[0], &wr, &bad) == 0, "nothing but an immediate");
          wc = pair.next();
          expect(wc.wr_id == 9 && wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM &&
                     wc.imm_data == 0x01020304 && (wc.wc_flags & IBV_WC_WITH_IMM) != 0,
                 "immediate");
          expect(mrc.destroy_context(pair.mrc_context_) == 0, "what was left is destroyed with it");
        }) == "");
}

TEST_CASE("what MRC does not have is refused where it stands in a list") {
  LoopbackOptions device = mrc_device();
  device.capabilities |= kCanSend;  // verbs emulate it; libmrc has none all the same
  CHECK(run_program(device, [](const Verbs& verbs) {
          const Mrc mrc;
          MrcPair pair(verbs, mrc);
          pair.memory[0] = 'q';
          ibv_sge sge[3];
          ibv_send_wr first = pair.write(sge[0], 1, 1, IBV_SEND_SIGNALED);
          ibv_send_wr send = pair.write(sge[1], 2, 1, IBV_SEND_SIGNALED);
          ibv_send_wr last = pair.write(sge[2], 3, 1, IBV_SEND_SIGNALED);
          send.opcode = IBV_WR_SEND;
          first.next = &send;
          send.next = &last;
          ibv_send_wr* bad = nullptr;
          expect(mrc.post_send(pair.qp[0], &first, &bad) == EOPNOTSUPP && errno == EOPNOTSUPP,
                 "EOPNOTSUPP");
          expect(bad == &send && first.next == &send, "which one; the list is the caller's");
          expect(pair.next().wr_id == 1 && pair.memory[4096] == 'q', "what stood before it");
          mrclab::mrc::QpAttr attr{};
          attr.mpr = 255;
          expect(mrc.modify_qp(pair.qp[0], nullptr, 0, &attr, kMaskMpr) == EINVAL, "too wide");
          attr.timeout = 25;
          expect(mrc.modify_qp(pair.qp[0], nullptr, 0, &attr, kMaskTimeout) == EINVAL, "too long");
          attr.linear_retries = 8;
          expect(mrc.modify_qp(pair.qp[0], nullptr, 0, &attr, kMaskRetry) == EINVAL, "too often");
        }) == "");
}

TEST_CASE("a queue pair gives back what was set, and defaults where nothing was") {
  CHECK(run_program(mrc_device(), [](const Verbs& verbs) {
          const Mrc mrc;
          MrcPair pair(verbs, mrc);
          mrclab::mrc::QpAttr attr{};
          attr.cap = 0xFFFF'FFFF;
          ibv_qp_attr at{};
          mrclab::mrc::QpInitAttr init{};
          const int most = static_cast<int>(kMaskMpr | kMaskTimeout | kMaskRetry | kMaskMaxWimm);
          expect(mrc.query_qp(pair.qp[0], &at, IBV_QP_STATE, &attr, most, &init) == 0, "query");
          expect(at.qp_state == IBV_QPS_RTS, "state");
          expect(attr.mpr > 0 && attr.max_wimm > 0 && attr.timeout > 0 &&
                     attr.linear_retries == 7 && attr.exponential_retries == 3,
                 "defaults");
          expect(attr.cap == 0xFFFF'FFFF, "what the mask does not name stays");
          expect(init.user == &pair && init.pd == pair.pd && init.send_cq == pair.cq, "init");
          attr.timeout = 20;
          expect(mrc.modify_qp(pair.qp[0], nullptr, 0, &attr, kMaskTimeout) == 0, "set");
          attr.timeout = 0;
          expect(mrc.query_qp(pair.qp[0], nullptr, 0, &attr, kMaskTimeout, nullptr) == 0 &&
                     attr.timeout == 20,
                 "as set");
        }) == "");
}

TEST_CASE("a hint cannot go while a queue pair has it") {
  CHECK(run_program(mrc_device(), [](const Verbs& verbs) {
          const Mrc mrc;
          mrc_context* context = mrc.create_context(open_first(verbs), nullptr);
          HintAttr attr{};
          attr.qps_per_peer = 2;
          attr.vendor[127] = 9;
          mrc_qp_hint* hint = mrc.create_qp_hint(context, &attr);
          expect(hint != nullptr, "create");
          MrcPair pair(verbs, mrc, nullptr, hint);
          expect(mrc.destroy_qp_hint(hint) == -1 && errno == EBUSY, "EBUSY");
          attr.send_peers = -1;
          expect(mrc.modify_qp_hint(hint, &attr, kHintSendPeers) == -1 && errno == EINVAL,
                 "less than none");
          attr = {};
          expect(mrc.query_qp_hint(hint, &attr, static_cast<int>(kHintQpsPerPeer | kHintVendor)) ==
                         0 &&
                     attr.qps_per_peer == 2 && attr.vendor[127] == 9,
                 "query");
          expect(mrc.destroy_qp(pair.qp[0]) == 0 && mrc.destroy_qp(pair.qp[1]) == 0, "destroy_qp");
          expect(mrc.destroy_qp_hint(hint) == 0, "free now");
        }) == "");
}

TEST_CASE("a completion channel wakes who armed its queue") {
  CHECK(run_program(mrc_device(), [](const Verbs& verbs) {
          const Mrc mrc;
          mrc_context* context = mrc.create_context(open_first(verbs), nullptr);
          mrc_comp_channel* channel = nullptr;
          expect(mrc.create_comp_channel(context, &channel) == 0, "channel");
          MrcPair pair(verbs, mrc, channel);
          int descriptor = -1;
          expect(mrc.get_comp_channel_fd(channel, &descriptor) == 0, "descriptor");
          expect(mrc.req_notify_cq(pair.cq, 0) == 0, "arm");
          ibv_sge sge;
          ibv_send_wr wr = pair.write(sge, 1, 8, IBV_SEND_SIGNALED);
          ibv_send_wr* bad = nullptr;
          expect(mrc.post_send(pair.qp[0], &wr, &bad) == 0, "post");
          pollfd readable{descriptor, POLLIN, 0};
          expect(poll(&readable, 1, 10'000) == 1, "readable");
          mrc_cq* which = nullptr;
          void* user = nullptr;
          expect(mrc.get_cq_event(channel, &which, &user) == 0 && which == pair.cq && user == &pair,
                 "whose event");
          mrc.ack_cq_events(which, 1);
          expect(mrc.destroy_comp_channel(channel) == EBUSY, "its queue uses it");
          expect(mrc.destroy_context(context) == 0, "all at once");
        }) == "");
}

TEST_CASE("contexts of others, objects of others and versions to come are refused") {
  CHECK(run_program(mrc_device(), [](const Verbs& verbs) {
          const Mrc mrc;
          ibv_context foreign{};
          DeviceAttr device{};
          int supported = 1;
          expect(mrc.query_device(&foreign, &device, &supported) == 0 && supported == 0, "no MRC");
          expect(mrc.create_context(&foreign, nullptr) == nullptr && errno == EOPNOTSUPP,
                 "somebody else's context");
          ibv_context* context = open_first(verbs);
          expect(mrc.query_device(context, &device, &supported) == 0 && supported == 1 &&
                     device.protocol_versions == 1 && device.max_mpr > 0,
                 "MRC");
          foreign.ops = context->ops;  // a copy is nobody's
          expect(mrc.query_device(&foreign, &device, &supported) == 0 && supported == 0, "a copy");
          expect(mrc.query_device(context, &device, &supported) == 0 && supported == 1, "ours");
          ContextAttr attr{kApiVersion + 1, 0};
          expect(mrc.create_context(context, &attr) == nullptr && errno == EOPNOTSUPP, "newer");
          attr.api_version = 1;  // as the OCP benchmark says it
          mrc_context* made = mrc.create_context(context, &attr);
          expect(made != nullptr, "older");
          auto* wrong = reinterpret_cast<mrc_cq*>(made);
          expect(mrc.destroy_cq(wrong) == EINVAL && mrc.destroy_cq(nullptr) == EINVAL, "no queue");
          ibv_wc wc;
          expect(mrc.poll_cq(wrong, 1, &wc) == -1, "no queue to poll");
          expect(mrc.ctl_poll_ev_event(wrong, 1, nullptr) == -EINVAL, "nor events");
          expect(mrc.destroy_context(made) == 0, "destroy");
        }) == "");
  LoopbackOptions rc;
  CHECK(run_program(rc, [](const Verbs& verbs) {
          const Mrc mrc;
          DeviceAttr device{};
          int supported = 1;
          ibv_context* context = open_first(verbs);
          expect(mrc.query_device(context, &device, &supported) == 0 && supported == 0, "RC");
          expect(mrc.create_context(context, nullptr) == nullptr && errno == EOPNOTSUPP, "RC");
        }) == "");
}

}  // namespace mrclab::verbs::client_test
