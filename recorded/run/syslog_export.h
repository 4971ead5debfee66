#pragma once
// The carriers of a run as lines of syslog, as the devices of a real fabric would have written them: switches as SONiC or
// Arista EOS, hosts as Linux' mlx5_core does. What no device reports is in no line: a silent loss, a switch without power.
// `mrclab import` reads them back, with the map of names that is made beside them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

enum class SwitchLog : uint8_t { kSonic, kEos };

/// Seconds of the log per fabric second, unless somebody chose: 1 us of the fabric is 1 s, and a microsecond of a line's
/// time 1 ps.
inline constexpr uint64_t kUsualStretch = 1'000'000;
inline constexpr uint64_t kMaxStretch = 1'000'000'000;
/// Fabric time 0 in a log: ours, so that every export of a run is the same.
inline constexpr std::string_view kLogStart = "2026-01-01T00:00:00Z";

struct SyslogExport {
  std::string log;
  std::string ports;  ///< what `import --map` takes
  size_t lines = 0;
  FabricTime first;                ///< of the first line
  std::vector<std::string> notes;  ///< what happened and is in no line
};

/// Goes by scenario.schedule, which is what the fabric executed (recorded_scenario). Throws InputError for a stretch that
/// makes years of it.
SyslogExport syslog_of(const Scenario& scenario, SwitchLog switches, uint64_t stretch);

}  // namespace mrclab::lab
