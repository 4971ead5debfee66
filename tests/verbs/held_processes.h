#pragma once
// Real programs, held by the hosts of a simulated fabric: what `mrclab run --world sim` does, without the lab. Each is a
// process of sh in a network in which all hosts have their management addresses; what it prints is in a file.

#include <sys/personality.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "netio/kernel/loopback_network.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "tests/support/sim_fabric.h"
#include "verbs/protocol/management_address.h"
#include "verbs/server/held/held_hosts.h"

namespace mrclab::test {

class HeldProcesses {
 public:
  HeldProcesses(Topology topology,
                endpoint::TransportKind transport = endpoint::TransportKind::kMrc,
                SimFabric::Options options = {})
      : network_(netio::make_loopback_network(verbs::management_address(0), 16)),
        fabric(std::move(topology), std::move(options)),
        hosts(fabric.topology.host_count(), [this](uint32_t host) { fabric.plan(host); }) {
    std::string folder = "/tmp/mrclab-held-test-XXXXXX";
    folder_ = ::mkdtemp(folder.data());
    fabric.stop_when_finished = false;
    for (uint32_t host = 0; host < fabric.topology.host_count(); ++host) {
      hosts.add(fabric.host(host).device(), verbs::host_facts(fabric.topology, host, transport));
    }
  }
  ~HeldProcesses() {
    hosts.close();
    children_.clear();
    std::filesystem::remove_all(folder_);
  }

  /// `program` is the file name of the one that is held; h1's address is $H1.
  void add(uint32_t host, const std::string& program, const std::string& command,
           FabricTime at = {}) {
    verbs::DeclaredProgram declared;
    declared.number = static_cast<uint32_t>(children_.size());
    declared.host = host;
    declared.at = at;
    declared.seed = 77 + declared.number;
    declared.socket = folder_ / ("held-" + std::to_string(declared.number));
    declared.command = command;
    hosts.declare(declared);
    netio::ChildOptions child;
    const std::string libraries = std::string(MRCLAB_BINARY_DIR) + "/rdma";
    child.argv = {"/bin/sh", "-c", command};
    child.stdout_file = output_file(children_.size());
    child.environment = {{"LD_LIBRARY_PATH", libraries},
                         {"LD_PRELOAD", libraries + "/libmrclab-held.so"},
                         {"MRCLAB_PROGRAM", program},
                         {"MRCLAB_VERBS", declared.socket}};
    for (uint32_t h = 0; h < fabric.topology.host_count() && h < 16; ++h) {
      child.environment.emplace_back("H" + std::to_string(h), "10.255.0." + std::to_string(h + 1));
    }
    child.before_exec = [this] {
      network_.enter();
      ::personality(ADDR_NO_RANDOMIZE);
    };
    children_.push_back(std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(child)));
  }
  /// Runs the fabric; then waits for those that have ended.
  void run_until(FabricTime until) { fabric.run_until(until); }
  /// How a program ended; one that is at its end at fabric time is waited for.
  netio::ExitStatus status(size_t program) {
    const auto status = children_[program]->wait(std::chrono::seconds(10));
    return status.value_or(netio::ExitStatus{.code = -1});
  }
  std::string output(size_t program) const {
    return netio::read_file(output_file(program), size_t{1} << 20);
  }

 private:
  std::filesystem::path output_file(size_t program) const {
    return folder_ / ("out-" + std::to_string(program));
  }
  netio::NetworkNamespace network_;
  std::filesystem::path folder_;

 public:
  SimFabric fabric;
  verbs::HeldHosts hosts;

 private:
  std::vector<std::unique_ptr<netio::ChildProcess>> children_;
};

}  // namespace mrclab::test
