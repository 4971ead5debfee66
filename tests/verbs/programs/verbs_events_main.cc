// A program that waits for the asynchronous events of its device, as NCCL's watching thread does, and then connects a
// queue pair anew by each entry of the table of GIDs.
//
//   verbs_events EVENTS
//
// Prints a line for each event, with the time at which it had it, and ends after so many: behind them one for each entry,
// with what the way to RTR gave.

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

double now_us() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// 0, or the errno of the first call that failed.
int connect(ibv_pd* domain, ibv_cq* queue, const ibv_gid& peer, int entry) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = queue;
  wanted.cap = {.max_send_wr = 4,
                .max_recv_wr = 4,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
  wanted.qp_type = IBV_QPT_RC;
  ibv_qp* const qp = ibv_create_qp(domain, &wanted);
  if (qp == nullptr) return errno;
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = 1;
  to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  int error =
      ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_4096;
  to.dest_qp_num = 17;
  to.max_dest_rd_atomic = 1;
  to.ah_attr.port_num = 1;
  to.ah_attr.is_global = 1;
  to.ah_attr.grh.dgid = peer;
  to.ah_attr.grh.sgid_index = static_cast<uint8_t>(entry);
  if (error == 0) {
    error = ibv_modify_qp(qp, &to,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                              IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  }
  ibv_destroy_qp(qp);
  return error;
}

}  // namespace

int main(int argc, char** argv) {
  const long events = argc == 2 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (events < 1) {
    std::fprintf(stderr, "usage: verbs_events EVENTS\n");
    return 2;
  }
  ibv_device** const devices = ibv_get_device_list(nullptr);
  ibv_context* const context =
      devices != nullptr && *devices != nullptr ? ibv_open_device(*devices) : nullptr;
  ibv_pd* const domain = context != nullptr ? ibv_alloc_pd(context) : nullptr;
  ibv_cq* const queue =
      domain != nullptr ? ibv_create_cq(context, 4, nullptr, nullptr, 0) : nullptr;
  ibv_gid peer{};
  if (queue == nullptr || ibv_query_gid(context, 1, 0, &peer) != 0) {
    std::fprintf(stderr, "verbs_events: %s\n", std::strerror(errno));
    return 1;
  }
  for (long i = 0; i < events; ++i) {
    ibv_async_event event{};
    if (ibv_get_async_event(context, &event) != 0) return 1;
    std::printf("%.3f %s\n", now_us(), ibv_event_type_str(event.event_type));
    ibv_ack_async_event(&event);
  }
  ibv_port_attr port{};
  if (ibv_query_port(context, 1, &port) != 0) return 1;
  for (int entry = 0; entry < port.gid_tbl_len; ++entry) {
    std::printf("entry %d: errno %d\n", entry, connect(domain, queue, peer, entry));
  }
  return 0;
}
