// A network plug-in for nccl_net_harness over plain ibverbs, so that the harness is tested without a plug-in of others. It
// moves data as theirs do: the receiver writes where a message may go into a slot of the sender's memory (RDMA WRITE),
// the sender polls that memory and writes the message with its length as immediate data. A queue pair of one connection
// carries both. Environment: MRCLAB_NET_ADDRESS, the IPv4 address to be connected to.

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/verbs/programs/net_abi.h"

namespace {

using namespace mrclab::test;

constexpr uint32_t kSlots = 8;  ///< requests under way in one direction
constexpr int kPort = 1;

ibv_context* g_context = nullptr;  // A plug-in has one state: that of its process.

struct Slot {
  uint64_t address;
  uint32_t rkey, size;
  uint64_t number;  ///< last in memory: written last, from 1
};

/// What each end says of itself.
struct Introduction {
  uint32_t qpn, psn, rkey;
  uint32_t size;  ///< sizeof: both ends are one build
  uint64_t slots;
  ibv_gid gid;
};

struct Comm;
struct Request {
  Comm* comm = nullptr;
  bool used = false, done = false, failed = false;
  int bytes = 0;
};

struct Comm {
  bool sends = false;
  int socket = -1;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* slots_mr = nullptr;
  std::array<Slot, kSlots> slots{};  ///< sender: what the receiver writes; receiver: what it sends
  Introduction mine{}, peer{};
  size_t peer_bytes = 0;
  uint64_t next = 1;  ///< number of the next message
  std::array<Request, kSlots> requests;
};

/// What a handle holds, of kNetHandleBytes; `pending` is the connecting side's alone.
struct Handle {
  sockaddr_in address;
  Comm* pending;
};
static_assert(sizeof(Handle) <= kNetHandleBytes);

struct Listener {
  int socket = -1;
  Comm* pending = nullptr;
};

void destroy(Comm* comm) {
  if (comm->qp != nullptr) ibv_destroy_qp(comm->qp);
  if (comm->cq != nullptr) ibv_destroy_cq(comm->cq);
  if (comm->slots_mr != nullptr) ibv_dereg_mr(comm->slots_mr);
  if (comm->pd != nullptr) ibv_dealloc_pd(comm->pd);
  if (comm->socket >= 0) ::close(comm->socket);
  delete comm;
}

bool to_init(ibv_qp* qp) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = kPort;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  return ibv_modify_qp(qp, &attr,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0;
}

bool to_rts(Comm& comm) {
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_4096;
  attr.dest_qp_num = comm.peer.qpn;
  attr.rq_psn = comm.peer.psn;
  attr.min_rnr_timer = 12;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid = comm.peer.gid;
  attr.ah_attr.grh.hop_limit = 64;
  attr.ah_attr.port_num = kPort;
  if (ibv_modify_qp(comm.qp, &attr,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0) {
    return false;
  }
  attr = {};
  attr.qp_state = IBV_QPS_RTS;
  attr.timeout = 20;
  attr.retry_cnt = 7;
  attr.rnr_retry = 7;
  attr.sq_psn = comm.mine.psn;
  return ibv_modify_qp(comm.qp, &attr,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) == 0;
}

/// A queue pair in INIT, and the introduction on its way.
Comm* begin(int socket, bool sends) {
  auto comm = std::make_unique<Comm>();
  comm->sends = sends;
  comm->socket = socket;
  comm->pd = ibv_alloc_pd(g_context);
  comm->cq = ibv_create_cq(g_context, 4 * kSlots, nullptr, nullptr, 0);
  if (comm->pd != nullptr && comm->cq != nullptr) {
    comm->slots_mr = ibv_reg_mr(comm->pd, comm->slots.data(), sizeof comm->slots,
                                IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = comm->cq;
    init.cap = {2 * kSlots, 2 * kSlots, 1, 1, 0};
    init.qp_type = IBV_QPT_RC;
    comm->qp = ibv_create_qp(comm->pd, &init);
  }
  Introduction& mine = comm->mine;
  if (comm->slots_mr == nullptr || comm->qp == nullptr || !to_init(comm->qp) ||
      ibv_query_gid(g_context, kPort, 0, &mine.gid) != 0) {
    destroy(comm.release());
    return nullptr;
  }
  mine.qpn = comm->qp->qp_num;
  mine.psn = (mine.qpn * 2654435761u) & 0xFFFFFF;
  mine.rkey = comm->slots_mr->rkey;
  mine.size = sizeof mine;
  mine.slots = reinterpret_cast<uint64_t>(comm->slots.data());
  if (::send(socket, &mine, sizeof mine, MSG_NOSIGNAL) != ssize_t{sizeof mine}) {
    destroy(comm.release());
    return nullptr;
  }
  return comm.release();
}

/// 1: connected, 0: the peer has not said all yet, -1: it never will.
int go_on(Comm& comm) {
  auto* at = reinterpret_cast<char*>(&comm.peer);
  const ssize_t n =
      ::recv(comm.socket, at + comm.peer_bytes, sizeof comm.peer - comm.peer_bytes, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
  if (n <= 0) return -1;
  comm.peer_bytes += static_cast<size_t>(n);
  if (comm.peer_bytes < sizeof comm.peer) return 0;
  return comm.peer.size == sizeof comm.peer && to_rts(comm) ? 1 : -1;
}

int init(NetLogger) {
  if (g_context != nullptr) return kNetSuccess;
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr || count == 0) return kNetSystemError;
  g_context = ibv_open_device(list[0]);
  ibv_free_device_list(list);
  return g_context != nullptr ? kNetSuccess : kNetSystemError;
}

int devices(int* count) {
  *count = 1;
  return kNetSuccess;
}

int properties(int, NetProperties* out) {
  *out = {};
  out->name = g_context->device->name;
  out->pointer_support = kNetPointerHost;
  out->port = kPort;
  out->max_comms = 64;
  out->max_receives = 1;
  return kNetSuccess;
}

int listen_for(int, void* handle, void** listener) {
  const char* own = std::getenv("MRCLAB_NET_ADDRESS");
  auto made = std::make_unique<Listener>();
  Handle out{};
  out.address.sin_family = AF_INET;
  if (own == nullptr || ::inet_pton(AF_INET, own, &out.address.sin_addr) != 1) {
    return kNetInvalidArgument;
  }
  made->socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  auto* address = reinterpret_cast<sockaddr*>(&out.address);
  socklen_t length = sizeof out.address;
  if (::bind(made->socket, address, length) != 0 || ::listen(made->socket, 8) != 0 ||
      ::getsockname(made->socket, address, &length) != 0) {
    ::close(made->socket);
    return kNetSystemError;
  }
  std::memset(handle, 0, kNetHandleBytes);
  std::memcpy(handle, &out, sizeof out);
  *listener = made.release();
  return kNetSuccess;
}

/// `pending` until it is connected, then `comm`.
int finish(Comm*& pending, void** comm) {
  if (pending == nullptr) return kNetSystemError;
  const int state = go_on(*pending);
  if (state == 0) return kNetSuccess;
  Comm* done = pending;
  pending = nullptr;
  if (state < 0) {
    destroy(done);
    return kNetRemoteError;
  }
  *comm = done;
  return kNetSuccess;
}

int connect_to(int, void* handle, void** comm, void**) {
  Handle state{};
  std::memcpy(&state, handle, sizeof state);
  *comm = nullptr;
  if (state.pending == nullptr) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    // The peer listens already, so that this waits for the kernel alone.
    if (::connect(socket, reinterpret_cast<sockaddr*>(&state.address), sizeof state.address) != 0) {
      ::close(socket);
      return kNetSystemError;
    }
    state.pending = begin(socket, true);
  }
  const int result = finish(state.pending, comm);
  std::memcpy(handle, &state, sizeof state);
  return result;
}

int accept_from(void* opaque, void** comm, void**) {
  auto* listener = static_cast<Listener*>(opaque);
  *comm = nullptr;
  if (listener->pending == nullptr) {
    const int socket = ::accept4(listener->socket, nullptr, nullptr, SOCK_CLOEXEC);
    if (socket < 0) return errno == EAGAIN || errno == EINTR ? kNetSuccess : kNetSystemError;
    listener->pending = begin(socket, false);
  }
  return finish(listener->pending, comm);
}

int register_memory(void* opaque, void* data, size_t size, int type, void** region) {
  if (type != kNetPointerHost) return kNetInvalidArgument;
  *region = ibv_reg_mr(static_cast<Comm*>(opaque)->pd, data, size,
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  return *region != nullptr ? kNetSuccess : kNetSystemError;
}

int deregister_memory(void*, void* region) {
  return ibv_dereg_mr(static_cast<ibv_mr*>(region)) == 0 ? kNetSuccess : kNetSystemError;
}

Request* take_request(Comm& comm) {
  Request& request = comm.requests[comm.next % kSlots];
  if (request.used) return nullptr;
  request = {&comm, true, false, false, 0};
  return &request;
}

int send_message(void* opaque, void* data, int size, int, void* region, void** out) {
  Comm& comm = *static_cast<Comm*>(opaque);
  *out = nullptr;
  const volatile Slot& slot = comm.slots[comm.next % kSlots];
  if (slot.number != comm.next) return kNetSuccess;  // The receiver has no place yet.
  std::atomic_thread_fence(std::memory_order_acquire);
  if (size < 0 || static_cast<uint32_t>(size) > slot.size) return kNetInvalidArgument;
  Request* request = take_request(comm);
  if (request == nullptr) return kNetSuccess;
  request->bytes = size;
  ibv_sge piece{reinterpret_cast<uint64_t>(data), static_cast<uint32_t>(size),
                static_cast<ibv_mr*>(region)->lkey};
  ibv_send_wr wr{};
  wr.wr_id = reinterpret_cast<uint64_t>(request);
  wr.sg_list = size > 0 ? &piece : nullptr;
  wr.num_sge = size > 0 ? 1 : 0;
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.imm_data = htonl(static_cast<uint32_t>(size));
  wr.wr.rdma.remote_addr = slot.address;
  wr.wr.rdma.rkey = slot.rkey;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(comm.qp, &wr, &bad) != 0) return kNetSystemError;
  ++comm.next;
  *out = request;
  return kNetSuccess;
}

int receive_message(void* opaque, int n, void** data, int* sizes, int*, void** regions,
                    void** out) {
  Comm& comm = *static_cast<Comm*>(opaque);
  *out = nullptr;
  if (n != 1) return kNetInvalidArgument;
  Request* request = take_request(comm);
  if (request == nullptr) return kNetSuccess;
  ibv_recv_wr place{};
  place.wr_id = reinterpret_cast<uint64_t>(request);
  ibv_recv_wr* bad_place = nullptr;
  if (ibv_post_recv(comm.qp, &place, &bad_place) != 0) return kNetSystemError;
  const size_t at = comm.next % kSlots;
  Slot& slot = comm.slots[at];
  slot = {reinterpret_cast<uint64_t>(data[0]), static_cast<ibv_mr*>(regions[0])->rkey,
          static_cast<uint32_t>(sizes[0]), comm.next};
  ibv_sge piece{reinterpret_cast<uint64_t>(&slot), sizeof slot, comm.slots_mr->lkey};
  ibv_send_wr wr{};
  wr.sg_list = &piece;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;  // wr_id 0: nobody's request
  wr.wr.rdma.remote_addr = comm.peer.slots + at * sizeof slot;
  wr.wr.rdma.rkey = comm.peer.rkey;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(comm.qp, &wr, &bad) != 0) return kNetSystemError;
  ++comm.next;
  *out = request;
  return kNetSuccess;
}

int flush(void*, int, void**, int*, void**, void** request) {
  *request = nullptr;  // Host memory needs none.
  return kNetSuccess;
}

int test(void* opaque, int* done, int* sizes) {
  auto* request = static_cast<Request*>(opaque);
  Comm& comm = *request->comm;
  std::array<ibv_wc, kSlots> completions;
  const int n = ibv_poll_cq(comm.cq, kSlots, completions.data());
  if (n < 0) return kNetSystemError;
  for (int i = 0; i < n; ++i) {
    const ibv_wc& wc = completions[static_cast<size_t>(i)];
    if (wc.status != IBV_WC_SUCCESS) return kNetRemoteError;
    auto* whose = reinterpret_cast<Request*>(wc.wr_id);
    if (whose == nullptr) continue;
    whose->done = true;
    if (wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM) whose->bytes = static_cast<int>(ntohl(wc.imm_data));
  }
  *done = request->done;
  if (!request->done) return kNetSuccess;
  if (sizes != nullptr) *sizes = request->bytes;
  request->used = false;
  return kNetSuccess;
}

int close_comm(void* comm) {
  destroy(static_cast<Comm*>(comm));
  return kNetSuccess;
}

int close_listener(void* opaque) {
  auto* listener = static_cast<Listener*>(opaque);
  ::close(listener->socket);
  delete listener;
  return kNetSuccess;
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const NetPlugin ncclNetPlugin_v8 = {"mrclab-verbs", init,
                                    devices,        properties,
                                    listen_for,     connect_to,
                                    accept_from,    register_memory,
                                    nullptr,        deregister_memory,
                                    send_message,   receive_message,
                                    flush,          test,
                                    close_comm,     close_comm,
                                    close_listener, nullptr,
                                    nullptr};
