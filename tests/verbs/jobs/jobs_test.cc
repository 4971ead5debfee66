// Programs of several processes that share a device: they move data as those of others do, and compare every byte.

#include <atomic>
#include <filesystem>
#include <thread>

#include <doctest/doctest.h>

#include "tests/verbs/client/loopback_server.h"
#include "tests/verbs/jobs/job.h"

namespace mrclab::test {
namespace {

using verbs::client_test::LoopbackOptions;
using verbs::client_test::LoopbackServer;

std::string built_program(const std::string& name) {
  return std::string(MRCLAB_BINARY_DIR) + "/tests/verbs/programs/" + name;
}

/// A port that nobody has now, for the processes to find each other.
std::string free_port() { return std::to_string(20'000 + ::getpid() % 20'000); }

/// A server at a path of its own, in a thread.
class Server {
 public:
  explicit Server(LoopbackOptions options)
      : path_(std::filesystem::temp_directory_path() /
              ("mrclab-jobs-" + std::to_string(::getpid()))),
        server_(path_, std::move(options)),
        thread_([this] { server_.run(stop_); }) {}
  ~Server() {
    stop_ = true;
    thread_.join();
    std::filesystem::remove(path_);
  }
  std::vector<std::string> environment() const {
    return {"LD_LIBRARY_PATH=" MRCLAB_BINARY_DIR "/rdma", "MRCLAB_VERBS=" + path_.string(),
            "MRCLAB_NET_ADDRESS=127.0.0.1"};
  }

 private:
  std::filesystem::path path_;
  LoopbackServer server_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

LoopbackOptions mrc() {
  LoopbackOptions options;
  options.capabilities = verbs::kCanWrite;
  options.device = "mrc0";
  options.transport = 0;
  return options;
}

}  // namespace

TEST_CASE("messages through a network plug-in arrive whole, in both directions at once") {
  if (!std::filesystem::exists(built_program("libverbs_net_plugin.so"))) return;
  const Server server(mrc());
  std::vector<Job> jobs;
  for (const char* side : {"serve", "join"}) {
    jobs.emplace_back(
        std::vector<std::string>{built_program("nccl_net_harness"),
                                 built_program("libverbs_net_plugin.so"), side, "127.0.0.1",
                                 "--bytes", "100000", "--port", free_port()},
        server.environment());
  }
  for (Job& job : jobs) {
    CHECK(job.wait(120) == 0);
    CHECK(job.output() ==
          "mrclab-verbs on mrc0: 20 messages each way, 616434 bytes received, 0 wrong\n");
  }
}

TEST_CASE("gloo's ring all-reduce gives every process the sum") {
  if (!std::filesystem::exists(built_program("gloo_ring"))) return;
  const Server server{LoopbackOptions{}};
  constexpr int kSize = 3;
  std::vector<Job> jobs;
  for (int rank = 0; rank < kSize; ++rank) {
    jobs.emplace_back(std::vector<std::string>{built_program("gloo_ring"), std::to_string(rank),
                                               std::to_string(kSize), "127.0.0.1", "--rounds", "4",
                                               "--count", "20000", "--port", free_port()},
                      server.environment());
  }
  for (int rank = 0; rank < kSize; ++rank) {
    Job& job = jobs[static_cast<size_t>(rank)];
    CHECK(job.wait(120) == 0);
    CHECK(job.output() == "gloo_ring: rank " + std::to_string(rank) +
                              " of 3 on roce0: 4 rounds of 20000 floats, 0 wrong\n");
  }
}

}  // namespace mrclab::test
