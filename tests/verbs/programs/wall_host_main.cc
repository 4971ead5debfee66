// Hosts of a simulated fabric with doors, in one process: programs of others run against the host's side and the
// transport with neither root nor namespaces.
//
//   wall_host FOLDER [mrc|roce] [HOSTS]
//
// FOLDER/h0, FOLDER/h1 ... are the sockets (MRCLAB_VERBS). Says "ready" when they are there, and ends with its input.
// Fabric time passes as fast as this machine runs it while programs are connected.

#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/verbs/support/wall_world.h"

namespace {

bool input_ended(int wait_ms) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, wait_ms) != 1) return false;
  char byte = 0;
  return ::read(STDIN_FILENO, &byte, 1) <= 0;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mrclab;
  const uint32_t hosts = argc > 3 ? static_cast<uint32_t>(std::strtoul(argv[3], nullptr, 10)) : 2;
  if (argc < 2 || hosts < 2 || hosts > 16 || hosts % 2 != 0) {
    std::fprintf(stderr, "usage: wall_host FOLDER [mrc|roce] [HOSTS]\n");
    return 2;
  }
  try {
    // Hosts on two T0s in each of 2 planes.
    test::WallWorld world(argc > 2 && std::string(argv[2]) == "roce",
                          build_topology(test::shape_of("wall", 2, 2, 2, hosts / 2)), argv[1]);
    std::puts("ready");
    std::fflush(stdout);
    while (!input_ended(world.step() ? 0 : 5)) {
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "wall_host: %s\n", error.what());
    return 1;
  }
  return 0;
}
