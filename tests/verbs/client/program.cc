#include "tests/verbs/client/program.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace mrclab::verbs::client_test {
namespace {

template <typename Function>
void bind(void* library, const char* name, Function& function) {
  void* symbol = dlsym(library, name);
  expect(symbol != nullptr, std::string("no symbol ") + name);
  function = reinterpret_cast<Function>(symbol);
}

void to_state(const Verbs& verbs, ibv_qp* qp, uint32_t remote) {
  ibv_qp_attr at{};
  at.qp_state = IBV_QPS_INIT;
  at.port_num = 1;
  at.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  expect(verbs.modify_qp(qp, &at,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
         "INIT");
  at.qp_state = IBV_QPS_RTR;
  at.path_mtu = IBV_MTU_4096;
  at.dest_qp_num = remote;
  at.ah_attr.is_global = 1;
  at.ah_attr.port_num = 1;
  at.max_dest_rd_atomic = 1;
  at.min_rnr_timer = 12;
  expect(verbs.modify_qp(qp, &at,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
         "RTR");
  at.qp_state = IBV_QPS_RTS;
  at.timeout = 14;
  at.retry_cnt = 7;
  at.rnr_retry = 7;
  at.max_rd_atomic = 1;
  expect(verbs.modify_qp(qp, &at,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
         "RTS");
}

/// In the child: the program, and what failed in it into `told`.
[[noreturn]] void be_program(const std::string& socket,
                             const std::function<void(const Verbs&)>& program, int told) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing stays when the test is killed
  setenv(kSocketVariable, socket.c_str(), 1);
  alarm(60);  // a hang is a failure, too
  try {
    void* library = dlopen(library_path().c_str(), RTLD_NOW | RTLD_GLOBAL);
    expect(library != nullptr, "dlopen");
    program(Verbs(library));
  } catch (const Failure& failure) {
    [[maybe_unused]] const ssize_t sent = write(told, failure.what.data(), failure.what.size());
  }
  _exit(0);
}

std::string all_of(int fd) {
  std::string text;
  char part[512];
  for (ssize_t bytes = 0; (bytes = read(fd, part, sizeof(part))) > 0;) {
    text.append(part, static_cast<size_t>(bytes));
  }
  return text;
}

}  // namespace

std::string library_path() { return MRCLAB_BINARY_DIR "/rdma/libibverbs.so.1"; }

Verbs::Verbs(void* library) {
#define MRCLAB_VERB(name) bind(library, "ibv_" #name, name)
  MRCLAB_VERB(get_device_list);
  MRCLAB_VERB(free_device_list);
  MRCLAB_VERB(open_device);
  MRCLAB_VERB(close_device);
  MRCLAB_VERB(query_device);
  MRCLAB_VERB(query_port);
  MRCLAB_VERB(query_gid);
  MRCLAB_VERB(alloc_pd);
  MRCLAB_VERB(dealloc_pd);
  MRCLAB_VERB(reg_mr);
  MRCLAB_VERB(dereg_mr);
  MRCLAB_VERB(create_comp_channel);
  MRCLAB_VERB(destroy_comp_channel);
  MRCLAB_VERB(create_cq);
  MRCLAB_VERB(destroy_cq);
  MRCLAB_VERB(get_cq_event);
  MRCLAB_VERB(ack_cq_events);
  MRCLAB_VERB(get_async_event);
  MRCLAB_VERB(ack_async_event);
  MRCLAB_VERB(create_qp);
  MRCLAB_VERB(modify_qp);
  MRCLAB_VERB(query_qp);
  MRCLAB_VERB(destroy_qp);
  MRCLAB_VERB(create_srq);
  MRCLAB_VERB(query_srq);
  MRCLAB_VERB(destroy_srq);
#undef MRCLAB_VERB
}

ConnectedPair::ConnectedPair(const Verbs& with, uint32_t depth,
                             ibv_comp_channel* (*make_channel)(const Verbs&, ibv_context*))
    : verbs(with) {
  ibv_device** list = verbs.get_device_list(nullptr);
  expect(list != nullptr && list[0] != nullptr, "device list");
  context = verbs.open_device(list[0]);
  expect(context != nullptr, "open");
  verbs.free_device_list(list);
  pd = verbs.alloc_pd(context);
  expect(pd != nullptr, "pd");
  mr = verbs.reg_mr(pd, memory, sizeof(memory),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC);
  expect(mr != nullptr, "mr");
  channel = make_channel != nullptr ? make_channel(verbs, context) : nullptr;
  cq = verbs.create_cq(context, 256, this, channel, 0);
  expect(cq != nullptr, "cq");
  for (ibv_qp*& one : qp) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.cap = ibv_qp_cap{depth, depth, 4, 4, 64};
    init.qp_type = IBV_QPT_RC;
    one = verbs.create_qp(pd, &init);
    expect(one != nullptr, "qp");
  }
  to_state(verbs, qp[0], qp[1]->qp_num);
  to_state(verbs, qp[1], qp[0]->qp_num);
}

ibv_send_wr ConnectedPair::write(ibv_sge& sge, uint64_t id, uint32_t bytes, unsigned flags) const {
  sge = ibv_sge{reinterpret_cast<uint64_t>(memory), bytes, mr->lkey};
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = flags;
  wr.wr.rdma.remote_addr = reinterpret_cast<uint64_t>(memory) + 4096;
  wr.wr.rdma.rkey = mr->rkey;
  return wr;
}

int ConnectedPair::post(ibv_send_wr& wr) const {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(qp[0], &wr, &bad);
}

ibv_wc ConnectedPair::next() const {
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (;;) {
    ibv_wc wc{};
    const int count = ibv_poll_cq(cq, 1, &wc);
    expect(count >= 0, "poll_cq");
    if (count == 1) {
      return wc;
    }
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    expect(now.tv_sec - begin.tv_sec < 20, "no completion");
  }
}

void ConnectedPair::destroy() {
  expect(verbs.destroy_qp(qp[0]) == 0 && verbs.destroy_qp(qp[1]) == 0, "destroy_qp");
  expect(verbs.destroy_cq(cq) == 0, "destroy_cq");
  expect(channel == nullptr || verbs.destroy_comp_channel(channel) == 0, "destroy_comp_channel");
  expect(verbs.dereg_mr(mr) == 0 && verbs.dealloc_pd(pd) == 0, "dereg_mr, dealloc_pd");
  expect(verbs.close_device(context) == 0, "close_device");
}

std::string run_program(LoopbackOptions options, const std::function<void(const Verbs&)>& program,
                        const std::function<void(LoopbackServer&)>& meanwhile) {
  char folder[] = "/tmp/mrclab-verbs-XXXXXX";
  if (mkdtemp(folder) == nullptr) {
    return "mkdtemp";
  }
  const std::string socket = std::string(folder) + "/door";
  std::string told;
  {
    LoopbackServer server(socket, std::move(options));
    int ends[2];
    if (pipe(ends) != 0) {
      return "pipe";
    }
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      be_program(socket, program, ends[1]);
    }
    close(ends[1]);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      server.tick(1);
      if (meanwhile) {
        meanwhile(server);
      }
    }
    told = all_of(ends[0]);
    close(ends[0]);
    if (told.empty() && (!WIFEXITED(status) || WEXITSTATUS(status) != 0)) {
      told = "ended with status " + std::to_string(status);
    }
  }
  rmdir(folder);
  return told;
}

}  // namespace mrclab::verbs::client_test
