#pragma once
// What others did to a lab that its model does not contain. A lab that stays may see any number of
// such things, so only the newest are kept, and the rest are counted.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

/// Something happened to the lab that its model does not contain.
struct OutsideFault {
  enum class Kind : uint8_t {
    kLinkDown,    ///< another program set `port` down
    kLinkUp,      ///< and up again
    kDied,        ///< `process` has ended
    kStoodStill,  ///< `process` was taken out of the gate
    kOther,       ///< reported, without an effect in the model
  };
  Kind kind = Kind::kOther;
  FabricTime t = {};  ///< committed when it was noticed
  std::string what;
  PortRef port = {};
  uint32_t process = netio::kNoProcess;
  bool disk_full = false;  ///< kDied: it could not write down what happens
};

class OutsideFaults {
 public:
  static constexpr size_t kMaxKept = 1000;
  static constexpr size_t kMaxTold = 20;

  void report_fault(OutsideFault fault);
  /// How many there ever were.
  uint64_t total() const { return forgotten_ + kept_.size(); }
  /// How many of them have no effect in the model, so that no schedule repeats them.
  uint64_t unmodelled() const { return unmodelled_; }
  /// The newest kMaxKept, oldest first.
  const std::deque<OutsideFault>& kept() const { return kept_; }
  /// The faults since a reader has had the first `seen` of them; sets `seen` to total().
  std::vector<OutsideFault> since(uint64_t& seen) const;
  /// Lines for people: how many came before, if any did, then the newest kMaxTold, oldest first.
  std::vector<std::string> newest_lines() const;

 private:
  std::deque<OutsideFault> kept_;
  uint64_t forgotten_ = 0, unmodelled_ = 0;
};

}  // namespace mrclab::lab
