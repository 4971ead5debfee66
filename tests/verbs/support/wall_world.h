#pragma once
// Hosts of a simulated fabric with doors, in this process: programs in others reach them as they reach a daemon's.

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/support/fabrics.h"
#include "tests/support/sim_fabric.h"
#include "verbs/server/door.h"

namespace mrclab::test {

class WallWorld {
 public:
  /// The doors are in `folder`, or in one of its own.
  explicit WallWorld(bool roce, Topology topology = two_rows(), std::string folder = {})
      : fabric(topology, options_of(roce, topology)) {
    fabric.stop_when_finished = false;
    fabric.run_until(FabricTime::zero());
    folder_ = std::move(folder);
    if (folder_.empty()) {
      char name[] = "/tmp/mrclab-wall-XXXXXX";
      if (::mkdtemp(name) == nullptr) throw std::runtime_error("mkdtemp");
      folder_ = own_ = name;
    }
    const auto transport = roce ? endpoint::TransportKind::kRoce : endpoint::TransportKind::kMrc;
    for (uint32_t host = 0; host < topology.host_count(); ++host) {
      doors_.open(door(host), fabric.host(host).device(),
                  verbs::host_facts(topology, host, transport));
    }
  }
  ~WallWorld() {
    doors_.close();
    if (!own_.empty()) std::filesystem::remove_all(own_);
  }
  /// MRCLAB_VERBS of a program in this host.
  std::string door(uint32_t host) const { return folder_ + "/h" + std::to_string(host); }
  /// Serves programs, and lets some fabric time pass if there are any. False: there was nothing to do.
  bool step() {
    const bool busy = doors_.serve(0);
    if (!doors_.anybody()) return busy;
    for (int i = 0; i < 4; ++i) fabric.run_until(fabric.now() + FabricTime::from_us(1));
    return true;
  }
  bool anybody() const { return doors_.anybody(); }

  SimFabric fabric;

 private:
  static SimFabric::Options options_of(bool roce, const Topology& topology) {
    SimFabric::Options options;
    if (roce) options.profile = endpoint::make_profile("roce", topology);
    return options;
  }
  std::string folder_, own_;
  verbs::Doors doors_;
};

}  // namespace mrclab::test
