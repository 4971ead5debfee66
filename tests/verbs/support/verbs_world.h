#pragma once
// Programs in hosts of a simulated fabric, served as a daemon serves them: what is posted is taken between two runs of
// the hosts, and what has become complete is handed over then.

#include <array>
#include <memory>
#include <vector>

#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "tests/verbs/support/test_program.h"
#include "verbs/server/host_programs.h"
#include "verbs/server/verbs_session.h"

namespace mrclab::test {

class VerbsWorld {
 public:
  explicit VerbsWorld(Topology topology = two_rows(),
                      endpoint::TransportKind transport = endpoint::TransportKind::kMrc)
      : fabric(std::move(topology), options_of(transport)) {
    fabric.stop_when_finished = false;
    for (uint32_t host = 0; host < fabric.topology.host_count(); ++host) {
      programs_.push_back(std::make_unique<verbs::HostPrograms>(
          fabric.host(host).device(), verbs::host_facts(fabric.topology, host, transport)));
    }
    fabric.run_until(FabricTime::zero());
  }

  struct Guest {
    std::unique_ptr<verbs::VerbsSession> session;
    std::unique_ptr<TestProgram> program;
    TestProgram* operator->() const { return program.get(); }
  };
  /// A program in a host, which has not said hello.
  Guest enter(uint32_t host) {
    Guest guest;
    guest.session = std::make_unique<verbs::VerbsSession>(*programs_[host]);
    verbs::VerbsSession* const session = guest.session.get();
    guest.program = std::make_unique<TestProgram>(
        [session](std::vector<uint8_t> message, std::vector<netio::FileDescriptor> descriptors) {
          verbs::VerbsSession::Answer answer = session->handle(message, std::move(descriptors));
          TestProgram::Reply reply;
          if (answer.broken) return reply;
          verbs::ReplyHeader header;
          std::memcpy(&header, answer.message.data(), sizeof header);
          reply.status = header.status;
          reply.now_ps = header.now_ps;
          reply.body.assign(answer.message.begin() + sizeof header, answer.message.end());
          reply.descriptors = std::move(answer.descriptors);
          return reply;
        });
    return guest;
  }

  /// Lets `time` pass, and serves the programs every 100 ns of it.
  void run(FabricTime time, std::initializer_list<verbs::VerbsSession*> sessions) {
    const FabricTime end = fabric.now() + time;
    while (fabric.now() < end) {
      for (verbs::VerbsSession* const session : sessions) session->take_work(FabricTime::never());
      fabric.run_until(std::min(end, fabric.now() + FabricTime::from_ns(100)));
      for (verbs::VerbsSession* const session : sessions) session->deliver();
    }
  }

  SimFabric fabric;

 private:
  static SimFabric::Options options_of(endpoint::TransportKind transport) {
    SimFabric::Options options;
    if (transport == endpoint::TransportKind::kRoce) {
      options.profile = endpoint::make_profile("roce", two_rows());
    }
    return options;
  }
  std::vector<std::unique_ptr<verbs::HostPrograms>> programs_;
};

/// A program in each of the first two hosts, with a region, completion queues and a connected queue pair.
struct ConnectedPair {
  explicit ConnectedPair(VerbsWorld& of, uint32_t cq_depth = 64, uint32_t work = 64,
                         size_t bytes = 64 * 1024)
      : world(of) {
    a.guest = of.enter(0);
    b.guest = of.enter(1);
    for (Side* side : {&a, &b}) {
      side->guest->greet();
      side->memory.resize(bytes);
      side->region = side->guest->region(side->memory);
      side->cq = side->guest->cq(cq_depth);
      side->qp = side->guest->qp(side->cq, side->cq, work, work);
    }
    status_a = a.guest->connect(a.qp, b.guest.program->hello.gid, b.qp.qpn);
    status_b = b.guest->connect(b.qp, a.guest.program->hello.gid, a.qp.qpn);
  }
  void run(FabricTime time) { world.run(time, {a.guest.session.get(), b.guest.session.get()}); }
  /// A write from a's memory to the same place of b's.
  bool write(uint64_t id, size_t at, size_t length, uint32_t flags = kWrSignaled,
             uint16_t opcode = kWrWrite, uint32_t immediate = 0) {
    return a.guest->write(a.qp.handle, id, std::span(a.memory).subspan(at, length), a.region.lkey,
                          reinterpret_cast<uint64_t>(&b.memory[at]), b.region.rkey, flags, opcode,
                          immediate);
  }

  struct Side {
    VerbsWorld::Guest guest;
    std::vector<uint8_t> memory;
    verbs::RegionReply region{};
    uint32_t cq = 0;
    verbs::QpReply qp{};
  };
  VerbsWorld& world;
  Side a, b;
  int status_a = -1, status_b = -1;
};

}  // namespace mrclab::test
