// Hosts of a simulated fabric with doors, in one process: programs of others run against the host's side and the
// transport with neither root nor namespaces.
//
//   wall_host FOLDER [mrc|roce] [HOSTS]
//
// FOLDER/h0, FOLDER/h1 ... are the sockets (MRCLAB_VERBS). Says "ready" when they are there, and ends with its input.
// Fabric time passes as fast as this machine runs it while programs are connected, kStep at a time.

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "verbs/server/door.h"

namespace {

using namespace mrclab;

constexpr FabricTime kStep = FabricTime::from_us(1);
/// Steps between two looks at programs.
constexpr int kStepsAtOnce = 4;

/// `hosts` on two T0s in each of 2 planes.
Topology fabric_of(uint32_t hosts) {
  return build_topology(test::shape_of("wall", 2, 2, 2, hosts / 2));
}

bool input_ended(int wait_ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, wait_ms) != 1) return false;
  char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) <= 0;
}

void run(const std::filesystem::path& folder, bool roce, uint32_t hosts) {
  const Topology topology = fabric_of(hosts);
  test::SimFabric::Options options;
  if (roce) options.profile = endpoint::make_profile("roce", topology);
  test::SimFabric fabric(topology, options);
  fabric.stop_when_finished = false;
  fabric.run_until(FabricTime::zero());
  const auto transport = roce ? endpoint::TransportKind::kRoce : endpoint::TransportKind::kMrc;
  verbs::Doors doors;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    doors.open(folder / ("h" + std::to_string(host)), fabric.host(host).device(),
               verbs::host_facts(topology, host, transport));
  }
  std::puts("ready");
  std::fflush(stdout);
  for (;;) {
    const bool busy = doors.serve(0);
    if (!busy && input_ended(doors.anybody() ? 0 : 20)) break;
    if (!doors.anybody()) continue;
    for (int i = 0; i < kStepsAtOnce; ++i) fabric.run_until(fabric.now() + kStep);
  }
  doors.close();
}

}  // namespace

int main(int argc, char** argv) {
  const uint32_t hosts = argc > 3 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 2;
  if (argc < 2 || hosts < 2 || hosts > 16 || hosts % 2 != 0) {
    std::fprintf(stderr, "usage: wall_host FOLDER [mrc|roce] [HOSTS]\n");
    return 2;
  }
  try {
    run(argv[1], argc > 2 && std::string(argv[2]) == "roce", hosts);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wall_host: %s\n", error.what());
    return 1;
  }
  return 0;
}
