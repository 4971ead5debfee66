#pragma once
// Watches what switches do with single frames: a live lab, a socket on every port that receives what arrives
// there, and frames sent from hosts one after the other. Whatever forwards, the evidence is the kernel's.

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"
#include "live/conform/probe_frames.h"

namespace mrclab::lab {

/// A frame as it arrived at one port.
struct ProbeSighting {
  PortRef at;
  Ipv6Address destination{};
  uint8_t hop_limit = 0;
  bool same_behind = true;  ///< what follows the outer header is as it was sent
};

/// In the order of travel; the first is at the switch that the NIC hangs on. Sightings that are on no way
/// from there come last.
struct ProbeOutcome {
  std::vector<ProbeSighting> seen;
  bool strayed = false;  ///< there are such
};

class ForwardingProbe {
 public:
  /// Brings the lab up; every switch forwards by `topology`, which is built of `shape`. `programs`:
  /// where those of the lab are, if not beside this one. `waiting` is called every few milliseconds. Throws
  /// SystemError or InputError. The topology outlives this.
  ForwardingProbe(
      const Topology& topology, const FabricShape& shape, const std::string& lab,
      const std::filesystem::path& programs = {}, const std::function<void()>& waiting = [] {});
  ~ForwardingProbe();

  /// Sends them and waits until each has arrived at a host, or nothing more has moved for `patience`.
  std::vector<ProbeOutcome> send(const std::vector<const ProbeFrame*>& frames,
                                 std::chrono::seconds patience);
  /// The same for frames that arrive nowhere: good frames sent after each, over every path of its
  /// sender, show that the fabric has processed it.
  std::vector<ProbeOutcome> send_wrong(const std::vector<const ProbeFrame*>& frames,
                                       const std::vector<PathProbe>& good,
                                       std::chrono::seconds patience);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace mrclab::lab
