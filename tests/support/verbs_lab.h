#pragma once
// Two programs on the devices of hosts in a simulated fabric, each with a connected queue pair and memory that only an
// accessor reaches. Of one host both are on it, and their packets are looped back.

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "endpoint/host/host_node.h"
#include "endpoint/host/verbs.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

namespace mrclab::test {

using namespace mrclab::endpoint;

/// Of each completion, in order.
inline std::vector<WorkStatus> statuses(const std::vector<WorkCompletion>& all) {
  std::vector<WorkStatus> list;
  for (const WorkCompletion& completion : all) list.push_back(completion.status);
  return list;
}

class VerbsLab {
 public:
  static constexpr uint64_t kVa = 0x7f12'3456'7000, kSize = 1 << 16;

  struct Options {
    TransportKind transport = TransportKind::kRoce;
    bool loops = false;
    bool connects = true;
    InitAttributes init = {};
    ReadyToReceiveAttributes receive = {};
    ReadyToSendAttributes send = {};
    uint32_t max_send_wr = 64;
    uint32_t srq_wr = 0;  ///< the receives of the second one come from a shared queue
    AccessFlags region = AccessFlags::all();
    uint32_t far_domain = 0, region_domain = 0;
  };

  struct Program {
    Device* device = nullptr;
    CqHandle cq;
    Qpn qpn;
    std::vector<uint8_t> bytes = std::vector<uint8_t>(kSize);
    SpanAccess access{bytes};
    MemoryRegion region;
    std::optional<SrqHandle> srq;

    PostResult post(WorkRequest request) { return device->post(qpn, std::move(request)); }
    PostResult receive(uint64_t id, uint64_t offset, uint32_t length) {
      ReceiveRequest request{.id = id, .pieces = {}, .local_error = {}};
      if (length > 0) request.pieces.push_back({&access, offset, length});
      return srq ? device->post_receive(*srq, std::move(request))
                 : device->post_receive(qpn, std::move(request));
    }
    std::vector<WorkCompletion> poll() {
      std::vector<WorkCompletion> all(256);
      all.resize(device->poll_completions(cq, all).size());
      return all;
    }
    std::vector<AsyncEvent> events() {
      std::vector<AsyncEvent> all;
      while (const auto event = device->next_async_event()) all.push_back(*event);
      return all;
    }
    QpState state() const { return device->query_queue_pair(qpn).state; }
  };

  explicit VerbsLab(Options options) : options_(std::move(options)), fabric(pair(), exact()) {
    fabric.stop_when_finished = false;
    for (Program* p : {&near, &far}) make(*p);
    if (options_.connects) connect();
  }
  explicit VerbsLab(TransportKind transport, bool loops = false)
      : VerbsLab(Options{.transport = transport, .loops = loops}) {}

  void make(Program& p) {
    p.device = &fabric.host(&p == &near || options_.loops ? 0 : 1).device();
    p.cq = p.device->create_completion_queue(1024);
    QpInitAttributes attributes{p.cq, p.cq};
    attributes.transport = options_.transport;
    attributes.max_send_wr = options_.max_send_wr;
    if (&p == &far) attributes.domain = options_.far_domain;
    if (&p == &far && options_.srq_wr > 0) {
      p.srq = attributes.srq = p.device->create_shared_receive_queue({options_.srq_wr, 0});
    }
    p.qpn = p.device->create_queue_pair(attributes);
    p.region =
        p.device->register_memory(p.access, kVa, {kSize}, options_.region, options_.region_domain);
    p.device->modify(p.qpn, options_.init);
  }
  void connect() {
    for (Program* p : {&near, &far}) make_ready(*p, other(*p), true);
  }
  void make_ready(Program& mine, const Program& theirs, bool sends) {
    ReadyToReceiveAttributes receive = options_.receive;
    receive.remote_address =
        host_address(fabric.topology, &theirs == &near || options_.loops ? 0 : 1);
    receive.remote_qpn = theirs.qpn;
    receive.rq_psn = theirs.device->draw_first_psn(theirs.qpn);
    mine.device->modify(mine.qpn, receive);
    if (!sends) return;
    ReadyToSendAttributes send = options_.send;
    send.sq_psn = mine.device->draw_first_psn(mine.qpn);
    mine.device->modify(mine.qpn, send);
  }
  Program& other(const Program& p) { return &p == &near ? far : near; }

  /// Writes to, or reads from, `offset` of the other one's memory.
  WorkRequest write(uint64_t id, ConstMemory local, uint64_t offset = 0) const {
    WorkRequest request;
    request.id = id;
    request.local = local;
    request.remote_va = kVa + offset;
    request.rkey = far.region.rkey;
    return request;
  }
  WorkRequest send(uint64_t id, ConstMemory local) const {
    WorkRequest request = write(id, local);
    request.opcode = WorkRequest::Opcode::kSend;
    return request;
  }
  WorkRequest read(uint64_t id, uint64_t from, uint64_t into, uint32_t length) {
    WorkRequest request = write(id, {}, from);
    request.opcode = WorkRequest::Opcode::kRead;
    request.into = {{&near.access, into, length}};
    return request;
  }
  WorkRequest atomic(uint64_t id, WorkRequest::Opcode opcode, uint64_t offset, uint64_t into,
                     uint64_t compare_add, uint64_t swap = 0) {
    WorkRequest request = read(id, offset, into, 8);
    request.opcode = opcode;
    request.compare_add = compare_add;
    request.swap = swap;
    return request;
  }
  void run_for(FabricTime time) { fabric.run_until(end_ += time); }

 private:
  static SimFabric::Options exact() {
    SimFabric::Options options;
    options.profile = make_profile("lab", pair());
    options.profile->timers = RcTimers::kExact;
    return options;
  }
  Options options_;
  FabricTime end_;

 public:
  SimFabric fabric;
  Program near, far;
};

inline uint64_t word_at(const std::vector<uint8_t>& bytes, size_t offset) {
  uint64_t word = 0;
  std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), 8,
              reinterpret_cast<uint8_t*>(&word));
  return word;
}

}  // namespace mrclab::test
