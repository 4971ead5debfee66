#pragma once
// A scenario as a value. scenario.h reads it from a file and writes it back.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/expect/expectation.h"
#include "analysis/history/reports.h"
#include "endpoint/options/transport_choice.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/node/effect.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"
#include "faults/fault.h"
#include "scenario/spec/named_transport.h"
#include "scenario/spec/program_spec.h"

namespace mrclab::lab {

using analysis::TimingMode;
/// Where packets are captured: by the daemons (`captures:`), by libpcap on the veths (`taps:`).
enum class CaptureScope : uint8_t { kHosts, kAll, kNone };

inline constexpr uint64_t kMaxSeed = 999'999'999'999'999'999;  ///< that a scenario file can hold

/// Lab seconds per fabric second that a person may ask for. At this pace a microsecond of the fabric takes a second.
inline constexpr uint32_t kMaxDilation = 1'000'000;

inline constexpr size_t kMaxContrasts = 16;

/// What another transport achieves in a scenario (contrast.h).
struct Contrast {
  std::string name;
  const NamedTransport* transport = nullptr;     ///< never null
  endpoint::TransportChoice options;             ///< its overrides come on top of the transport's
  bool on_fat_twin = false;                      ///< of the scenario's fabric (fat_twin.h)
  std::optional<LosslessProfile> watchdog = {};  ///< of which the watchdog alone counts
  std::vector<analysis::Expectation> expect;
  bool operator==(const Contrast&) const = default;
};

struct Scenario {
  std::string name;
  std::vector<std::string> ids;  ///< "L5", "P-2": what a shipped incident is called in its source
  std::string about;
  /// "yes", or "no, because ..." or "partly, because ...": do its conclusions hold under `profile: production`?
  std::string holds_at_production;
  std::vector<std::string>
      without;  ///< mechanisms that are switched off (scenario/spec/mechanism.h)
  std::vector<std::string> fails_without;  ///< each of them alone makes an expectation fail
  FabricShape fabric;                      ///< as in the fabric file
  /// What the fabric states, before the transport (fit_fabric_to_transport) has put its own in place.
  std::optional<std::pair<RedProfile, SwitchAsic>> stated_switches;
  Topology topology;  ///< built from it
  uint64_t seed = 1;
  endpoint::TransportChoice transport;
  std::optional<uint32_t> dilation;  ///< lab seconds per fabric second; empty: auto
  TimingMode timing = TimingMode::kCarried;
  /// `timing: held`: packets carry the time, and so do programs, which are held at it.
  bool programs_held = false;
  CaptureScope captures = CaptureScope::kHosts;
  CaptureScope taps = CaptureScope::kNone;  ///< beside those; live only
  bool payload_elided = false;              ///< frames are headers of the modelled length
  /// A pattern of hosts: in a simulation the judge follows the packets of these alone; empty: of all.
  std::string follow = {};
  std::vector<endpoint::WorkloadSpec> workload;
  std::vector<ExecSpec> programs;  ///< the workload's `exec:` entries; `wall` or `held`
  std::vector<faults::Fault> faults;
  std::vector<ScheduledEffect> schedule;  ///< compiled from faults
  FabricTime end;                         ///< never(): of a lab that stays and works until `down`
  std::optional<FabricTime> until;        ///< the run is ended here, before `end`
  /// It is ended before `end` as soon as all work that ends by itself has: at a multiple of work_check_period().
  bool ends_with_work = false;
  bool work_ended = false;  ///< and so it was, at `until`
  std::vector<analysis::Expectation> expect;
  std::vector<CheckProgram> check_programs;  ///< `program:` entries of `expect:`
  std::vector<Contrast> contrasts;           ///< what other transports make of it

  /// Where a run of it stops. No work is cut short before `end`: up to here the history is that of
  /// the whole run.
  FabricTime stop() const { return until.value_or(end); }
  /// Between two instants at which it is looked whether all work has ended: a hundredth of the longest run.
  FabricTime work_check_period() const { return std::max(end / 100, kPicosecond); }
};

/// Does the program run at fabric time?
inline bool is_held(const Scenario& scenario, const ExecSpec& program) {
  return program.time.value_or(scenario.programs_held ? ProgramTime::kHeld : ProgramTime::kWall) ==
         ProgramTime::kHeld;
}

}  // namespace mrclab::lab
