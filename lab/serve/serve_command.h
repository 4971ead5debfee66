#pragma once
// `mrclab serve`: what its words mean, as a session with a page.

#include <optional>
#include <string>
#include <vector>

#include "console/interrupt.h"
#include "lab/run/scenario_run.h"
#include "lab/serve/page_server.h"
#include "session/session_commands.h"

namespace mrclab::lab {

struct ServeCommandOptions {
  std::string what = "optic-glitch";  ///< a scenario, a fabric, a run folder, or a lesson
  ServeOptions server;
  std::optional<uint64_t> seed;
  std::vector<std::string> sets;   ///< KEY=VALUE: keys of a scenario
  std::optional<std::string> end;  ///< of a fabric without a scenario; 2ms by default
  World world = World::kSim;       ///< of what is no run folder
  bool open = true;                ///< open a browser, where there is a desktop
  std::optional<std::string> at;   ///< where it stands at first: "295us", "40rtt"
  size_t students = 0;             ///< of a class, a session each (class_room.h); 0: one session
  std::string hand_in;             ///< folder for what a class does; empty: none
  size_t max_packets = Recording::kMaxPackets;  ///< that a simulated world keeps
};
inline constexpr size_t kMaxStudents = 100;

/// What is to be shown: a scenario as it is; a fabric with an all-reduce of all its hosts; of a run folder what it
/// recorded, or, where it kept no packet records, its scenario, simulated again. It stands at `options.at`, or as far
/// on the way there as is possible before `interrupted` returns true. Throws InputError; live SystemError, Interrupted.
PlayedSession served_session(const ServeCommandOptions& options,
                             const IsInterrupted& interrupted = {});

/// Serves until Ctrl-C. Returns the exit code.
int serve_command(const ServeCommandOptions& options);

}  // namespace mrclab::lab
