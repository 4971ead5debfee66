#pragma once
// libpcap on the veths of a live run (`taps:` of a scenario): which, where to, and at what cost.

#include <filesystem>
#include <memory>

#include "analysis/verdict/verdict.h"
#include "live/bringup/bring_up.h"
#include "netio/runtime/veth_tap.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// Whole frames take 4 KB each; what does not fit is counted, and then the taps prove nothing.
inline constexpr uint64_t kTapBytes = 8ull << 30;

/// taps/veths.pcapng
std::filesystem::path tap_file(const RunFolder& folder);

/// Throws InputError for taps that could see nothing, or that nothing could be compared with.
void check_taps(const Scenario& scenario);

/// Opens taps on the ports of hosts, or of all nodes; null for none.
std::unique_ptr<netio::VethTaps> tap_veths(const LiveFabric& fabric, CaptureScope scope,
                                           const RunFolder& folder);

/// Keeps a run from outpacing its taps: no process commits further past the frames that the taps
/// have read than their buffers hold at line rate. On a busy machine the run becomes slower, and no
/// frame is missing.
class TapBrake {
 public:
  TapBrake(const netio::VethTaps& taps, const Topology& topology);
  /// The limit for commits from now on; it never decreases. `done`: committed by every process, so
  /// that all frames up to there are on the veths.
  FabricTime limit(FabricTime done);

 private:
  const netio::VethTaps& taps_;
  FabricTime span_;
  FabricTime read_, asked_;  ///< all of it is read; all of it will be when round_ is done
  uint64_t round_ = 0;
};

analysis::TapCost cost_of(const netio::TapReport& report);

}  // namespace mrclab::lab
