#pragma once
// Runs a command under ptrace, counts its kernel-visible steps (system calls that create, change or
// remove something which outlives the process), and can kill the process that is about to take the
// Nth one, with SIGKILL from outside. Children are followed; they live on after such a kill, as
// they would in earnest, and are traced to their end.

#include <cstdint>
#include <string>
#include <vector>

namespace mrclab::lab {

struct TracedRun {
  uint64_t steps = 0;      ///< taken by all processes until the command ended
  bool killed = false;     ///< the Nth step was reached
  std::string killed_at;   ///< "mount in mrclab-labd"
  int code = 0;            ///< exit code of the command, 128 + n for signal n
  int after_code = 0;      ///< exit code of `after`
  bool all_ended = false;  ///< every traced process had ended when `after` had
};

/// Runs `command`; kills at step `kill_at` (0: never, just counts). When the command has ended,
/// runs `after` (untraced, the clean-up), and gives what is left `grace_ms` to end. Output of both
/// goes to `output_file`.
TracedRun run_traced(const std::vector<std::string>& command, uint64_t kill_at,
                     const std::vector<std::string>& after, const std::string& output_file,
                     int grace_ms = 5000);

}  // namespace mrclab::lab
