// A collective of somebody else's over the verbs: gloo's AllreduceRing over its transport/ibverbs, as a job of some
// processes, of which each compares every float of every round. Exit code 0: all were right.
//
//   gloo_ring RANK SIZE STORE_ADDRESS [--port P] [--count N] [--rounds N] [--device NAME] [--gid N]
//
// STORE_ADDRESS is rank 0's IPv4 address, or a name of it, where the processes find each other. Values are whole
// numbers below 2^24, so that the sum does not depend on the order of the additions.

#include <gloo/allreduce_ring.h>
#include <gloo/rendezvous/context.h>
#include <gloo/transport/ibverbs/device.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "tests/verbs/programs/tcp_store.h"

namespace {

struct Options {
  uint32_t rank = 0, size = 0;
  std::string store;
  uint16_t port = 18'500;
  uint32_t count = 100'000, rounds = 10;
  std::string device;
  int gid = 0;
};

bool parse(int argc, char** argv, Options& options) {
  if (argc < 4 || argc % 2 != 0) return false;
  options.rank = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
  options.size = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  options.store = argv[3];
  for (int i = 4; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const auto number = static_cast<uint32_t>(std::strtoul(argv[i + 1], nullptr, 10));
    if (name == "--port")
      options.port = static_cast<uint16_t>(number);
    else if (name == "--count")
      options.count = number;
    else if (name == "--rounds")
      options.rounds = number;
    else if (name == "--gid")
      options.gid = static_cast<int>(number);
    else if (name == "--device")
      options.device = argv[i + 1];
    else
      return false;
  }
  return options.size >= 2 && options.size <= 128 && options.rank < options.size &&
         options.count >= 1 && options.count <= 16'000'000 && options.rounds >= 1;
}

float part(uint32_t rank, uint32_t round, uint32_t i) {
  return static_cast<float>((rank + 1) * ((i * 7 + round * 13) % 1000));
}

uint64_t run(const Options& options) {
  auto store = std::make_unique<mrclab::test::TcpStore>(options.rank, options.size, options.store,
                                                        options.port);
  gloo::transport::ibverbs::attr attr{options.device, 1, options.gid};
  if (attr.name.empty()) {
    const std::vector<std::string> names = gloo::transport::ibverbs::getDeviceNames();
    if (names.empty()) throw std::runtime_error("no RDMA device");
    attr.name = names.front();
  }
  auto device = gloo::transport::ibverbs::CreateDevice(attr);
  auto context = std::make_shared<gloo::rendezvous::Context>(static_cast<int>(options.rank),
                                                             static_cast<int>(options.size));
  context->connectFullMesh(*store, device);
  std::vector<float> values(options.count);
  uint64_t wrong = 0;
  // One object for all rounds: its destructor insists on sends that have been reaped.
  auto ring = std::make_unique<gloo::AllreduceRing<float>>(
      context, std::vector<float*>{values.data()}, static_cast<int>(options.count));
  for (uint32_t round = 0; round < options.rounds; ++round) {
    for (uint32_t i = 0; i < options.count; ++i) values[i] = part(options.rank, round, i);
    ring->run();
    for (uint32_t i = 0; i < options.count; ++i) {
      float sum = 0;
      for (uint32_t rank = 0; rank < options.size; ++rank) sum += part(rank, round, i);
      if (values[i] != sum) ++wrong;
    }
  }
  // What a rank sent last may not have left when it has everything itself.
  store->barrier("done");
  store.reset();  // rank 0: when all others have gone
  std::printf("gloo_ring: rank %u of %u on %s: %u rounds of %u floats, %llu wrong\n", options.rank,
              options.size, attr.name.c_str(), options.rounds, options.count,
              static_cast<unsigned long long>(wrong));
  std::fflush(stdout);
  // The library's destructors wait for completions of a mesh that all ranks tear down at once; the end of the process
  // gives back everything, and the verdict stands.
  std::_Exit(wrong == 0 ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: gloo_ring RANK SIZE STORE_ADDRESS [--port P] [--count N] [--rounds N] "
                 "[--device NAME] [--gid N]\n");
    return 2;
  }
  try {
    run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gloo_ring: rank %u: %s\n", options.rank, error.what());
  }
  return 1;
}
