#pragma once
// Do our switch, the kernel, Open vSwitch and our program in the kernel process a carrier alike? Every path of a
// fabric, hop by hop, against the fabric file; and malformed frames, against the known behaviour of each.

#include <chrono>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/forwarding.h"

namespace mrclab::lab {

struct ConformanceOptions {
  std::vector<Forwarding> forwarders{std::begin(kForwardings), std::end(kForwardings)};
  std::string lab = "conform";  ///< its labs are called so, with the forwarder behind
  /// Missing frames count as lost after so long without any arrival.
  std::chrono::seconds patience{10};
  /// Called every few milliseconds with what is just looked at.
  std::function<void(Forwarding)> waiting = [](Forwarding) {};
};

/// The results of one forwarder.
struct ForwarderReport {
  static constexpr size_t kMaxDifferences = 20;

  Forwarding forwarder = Forwarding::kSwitchd;
  size_t paths = 0, as_computed = 0;
  std::vector<std::string> differences;  ///< the first differences in paths
  struct Wrong {
    uint32_t switches = 0;  ///< switches that sent the frame on
    uint8_t hop_limit = 0;  ///< hop limit behind the last of them
    bool changed = false;   ///< something behind the outer header changed
    bool as_known = false;
  };
  std::vector<Wrong> wrong;  ///< as ConformanceReport::wrong_names
};

struct ConformanceReport {
  std::string fabric;
  std::vector<std::string> wrong_names,
      wrong_reasons;  ///< the reason is empty where nothing differs
  std::vector<ForwarderReport> forwarders;
  bool passed() const;
};

/// Brings a lab up for each forwarder, one after the other. Throws InputError, SystemError.
ConformanceReport check_conformance(FabricShape shape, const ConformanceOptions& options);

nlohmann::ordered_json to_json(const ConformanceReport& report);
std::string conformance_text(const ConformanceReport& report);  ///< 80 columns

}  // namespace mrclab::lab
