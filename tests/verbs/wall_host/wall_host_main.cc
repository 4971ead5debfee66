// wall_host FOLDER [mrc|roce]: hosts of a simulated fabric with doors FOLDER/h0, FOLDER/h1, ... for programs of this machine,
// until the end of its input. Fabric time passes as fast as this process can, and at least a microsecond between two
// looks at the programs: what they see is right, and its times mean nothing.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "verbs/server/door.h"

namespace {

using namespace mrclab;

/// Whether the input has ended; waits so long for it.
bool input_ended(int wait_ms) {
  pollfd input{0, POLLIN, 0};
  char byte = 0;
  return poll(&input, 1, wait_ms) == 1 && read(0, &byte, 1) <= 0;
}

void serve(const std::filesystem::path& folder, endpoint::TransportKind transport) {
  test::SimFabric::Options options;
  if (transport == endpoint::TransportKind::kRoce) {
    options.profile = endpoint::make_profile("roce", test::two_rows());
  }
  test::SimFabric fabric(test::two_rows(), options);
  fabric.stop_when_finished = false;
  verbs::Doors doors;
  for (uint32_t host = 0; host < fabric.topology.host_count(); ++host) {
    doors.open(folder / fmt::format("h{}", host), fabric.host(host).device(),
               verbs::host_facts(fabric.topology, host, transport));
  }
  fabric.run_until(FabricTime::zero());
  std::puts("ready");
  std::fflush(stdout);
  // Without work time passes in longer steps, up to what a retransmission timer may be late by.
  constexpr int64_t kShortest = 1'000;
  constexpr int64_t kLongest = 64'000;
  int64_t step_ns = kShortest;
  while (!input_ended(doors.anybody() ? 0 : 1)) {
    const bool busy = doors.serve(1'000'000);
    step_ns = busy ? kShortest : std::min(kLongest, step_ns * 2);
    fabric.run_until(fabric.now() + FabricTime::from_ns(step_ns));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: wall_host FOLDER [mrc|roce]\n");
    return 2;
  }
  const bool roce = argc > 2 && std::strcmp(argv[2], "roce") == 0;
  try {
    serve(argv[1], roce ? endpoint::TransportKind::kRoce : endpoint::TransportKind::kMrc);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wall_host: %s\n", error.what());
    return 1;
  }
}
