// loopback_host PATH [mrc]: a device at this socket until the end of its input, for suites of tests of others.

#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <thread>

#include "tests/verbs/client/loopback_server.h"

int main(int argc, char** argv) {
  using namespace mrclab::verbs;
  if (argc < 2) {
    std::fprintf(stderr, "usage: loopback_host PATH [mrc]\n");
    return 2;
  }
  client_test::LoopbackOptions options;
  options.capabilities |= kCanSrq;
  if (argc > 2 && std::strcmp(argv[2], "mrc") == 0) {
    options.capabilities = kCanWrite;
    options.device = "mrc0";
    options.transport = 0;
  }
  client_test::LoopbackServer server(argv[1], options);
  std::atomic<bool> stop{false};
  std::thread serving([&] { server.run(stop); });
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  stop.store(true);
  serving.join();
}
