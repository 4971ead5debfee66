// What two hosts take to carry messages, with nothing between them: posted on their devices (device), or by programs
// through their sessions and rings, from and to memory by /proc/self/mem (verbs). CPU seconds of one thread for both
// ends together.
//
//   verbs_cost device|verbs MESSAGE_BYTES MESSAGES

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/bench/cpu_time.h"
#include "tests/support/fabrics.h"
#include "tests/support/no_observer.h"
#include "tests/support/pair_fabric.h"
#include "tests/verbs/support/test_program.h"
#include "verbs/server/host_programs.h"
#include "verbs/server/verbs_session.h"

namespace {

using namespace mrclab;
using namespace mrclab::test;
constexpr uint32_t kDepth = 128;  // perftest's

class Straight : public PairFabric::Tap {
 public:
  void on_frame(uint32_t from, PortId port, Frame frame, FabricTime start,
                FabricTime arrival) override {
    fabric->deliver(1 - from, port, std::move(frame), start, arrival);
  }
  PairFabric* fabric = nullptr;
};

struct World {
  World() {
    config.transport = endpoint::make_profile("lab", topology);
    fabric = std::make_unique<PairFabric>(topology, config, 1, frames,
                                          std::array<NodeObserver*, 2>{&nobody, &nobody}, tap);
    tap.fabric = fabric.get();
  }
  Topology topology = pair();
  endpoint::HostConfig config;
  FramePool frames;
  NoObserver nobody;
  Straight tap;
  std::unique_ptr<PairFabric> fabric;
};

void must(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "verbs_cost: %s\n", what);
  std::exit(3);
}

double by_device(size_t bytes, uint64_t messages) {
  World world;
  endpoint::Device &a = world.fabric->host(0).device(), &b = world.fabric->host(1).device();
  std::vector<uint8_t> from(bytes, 1), to(bytes);
  const endpoint::CqHandle cq = a.create_completion_queue(256),
                           other = b.create_completion_queue(256);
  const endpoint::MemoryRegion inbox = b.register_memory(to);
  const Qpn qp = a.create_queue_pair({.send_cq = cq, .recv_cq = cq});
  const Qpn peer = b.create_queue_pair({.send_cq = other, .recv_cq = other});
  const auto connect = [&](endpoint::Device& device, Qpn mine, Qpn theirs, uint32_t host) {
    device.modify(mine, endpoint::InitAttributes{});
    device.modify(mine, endpoint::ReadyToReceiveAttributes{
                            .remote_address = host_address(world.topology, host),
                            .remote_qpn = theirs,
                            .rq_psn = Psn{0}});
    device.modify(mine, endpoint::ReadyToSendAttributes{.sq_psn = Psn{0}});
  };
  connect(a, qp, peer, 1);
  connect(b, peer, qp, 0);
  const double begin = cpu_seconds();
  std::array<endpoint::WorkCompletion, 64> room;
  for (uint64_t posted = 0, done = 0; done < messages;) {
    for (; posted < messages && posted - done < kDepth; ++posted) {
      endpoint::WorkRequest work;
      work.id = posted;
      work.local = from;
      work.remote_va = inbox.va;
      work.rkey = inbox.rkey;
      must(a.post(qp, std::move(work)) == endpoint::PostResult::kOk, "a post was refused");
    }
    world.fabric->step();
    for (const auto& completion : a.poll_completions(cq, room)) {
      must(completion.status == endpoint::WorkStatus::kSuccess, "a write failed");
      ++done;
    }
  }
  return cpu_seconds() - begin;
}

TestProgram program_of(verbs::VerbsSession& session) {
  return TestProgram(
      [&session](std::vector<uint8_t> message, std::vector<netio::FileDescriptor> in) {
        verbs::VerbsSession::Answer answer = session.handle(message, std::move(in));
        TestProgram::Reply reply;
        must(!answer.broken, "a session broke");
        verbs::ReplyHeader header;
        std::memcpy(&header, answer.message.data(), sizeof header);
        reply.status = header.status;
        reply.body.assign(answer.message.begin() + sizeof header, answer.message.end());
        reply.descriptors = std::move(answer.descriptors);
        return reply;
      });
}

double by_verbs(size_t bytes, uint64_t messages) {
  World world;
  std::array<std::unique_ptr<verbs::HostPrograms>, 2> programs;
  for (uint32_t host = 0; host < 2; ++host) {
    programs[host] = std::make_unique<verbs::HostPrograms>(
        world.fabric->host(host).device(),
        verbs::host_facts(world.topology, host, endpoint::TransportKind::kMrc));
  }
  verbs::VerbsSession here(*programs[0]), there(*programs[1]);
  TestProgram a = program_of(here), b = program_of(there);
  a.greet();
  b.greet();
  std::vector<uint8_t> from(bytes, 1), to(bytes);
  const auto mine = a.region(from), inbox = b.region(to);
  const uint32_t cq = a.cq(kDepth), other = b.cq(kDepth);
  const auto qp = a.qp(cq, cq, kDepth), peer = b.qp(other, other);
  must(a.connect(qp, b.hello.gid, peer.qpn) == 0 && b.connect(peer, a.hello.gid, qp.qpn) == 0,
       "the queue pairs were not connected");
  const double begin = cpu_seconds();
  for (uint64_t posted = 0, done = 0; done < messages;) {
    for (; posted < messages && posted - done < kDepth; ++posted) {
      must(a.write(qp.handle, posted, from, mine.lkey, reinterpret_cast<uint64_t>(to.data()),
                   inbox.rkey),
           "the work ring is full");
    }
    here.take_work(FabricTime::never());
    world.fabric->step();
    here.deliver();
    there.deliver();
    while (const auto completion = a.poll(cq)) {
      must(completion->status == 0, "a write failed");
      ++done;
    }
  }
  const double took = cpu_seconds() - begin;
  must(to == from, "the bytes differ");
  return took;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s device|verbs MESSAGE_BYTES MESSAGES\n", argv[0]);
    return 2;
  }
  const bool verbs = std::string(argv[1]) == "verbs";
  const size_t bytes = std::strtoul(argv[2], nullptr, 10);
  const uint64_t messages = std::strtoull(argv[3], nullptr, 10);
  const double took = verbs ? by_verbs(bytes, messages) : by_device(bytes, messages);
  std::printf("{\"way\": \"%s\", \"bytes\": %zu, \"messages\": %llu, \"cpu_s\": %.6f}\n", argv[1],
              bytes, static_cast<unsigned long long>(messages), took);
  return 0;
}
