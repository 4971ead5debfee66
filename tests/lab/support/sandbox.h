#pragma once
// A private corner of the machine for tests that bring labs up: own mount and network namespace, an
// empty /run and /dev/shm. `down --all` in here cannot reach any other labs, and two test runs do
// not meet.

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace mrclab::lab {

/// Once per process; later calls do nothing. Needs root.
void enter_sandbox();

/// What this sandbox holds that could be a lab's: names of network namespaces, links of this network
/// namespace, mounts on /run, processes of our programs, everything under /run and /dev/shm, and our
/// Unix sockets. Nothing of the rest of the machine, where labs of others come and go. Sorted.
std::vector<std::string> kernel_snapshot();
/// Lines that are only before ("- ...") or only after ("+ ..."); empty if equal.
std::string difference(const std::vector<std::string>& before,
                       const std::vector<std::string>& after);

/// How long a test waits for what must happen, so that a hang is found. Nothing depends on how long it
/// is: beside sixteen busy processes a ping through fifty switches takes ten seconds and more.
inline constexpr std::chrono::seconds kTestPatience{300};
/// The same for ping's `-W`, shorter, so that it is ping that reports what is missing.
inline constexpr const char* kPingPatience = "240";

struct CommandResult {
  int code = 0;        ///< exit code, or 128 + signal
  std::string output;  ///< stdout and stderr
};
/// Path of a program of this build.
std::string program(const std::string& name);
/// Runs the command to its end; kills it after `patience`, which the output then shows.
CommandResult run_command_line(const std::vector<std::string>& argv,
                               std::chrono::seconds patience = kTestPatience);

/// Runs the program `mrclab` of this build.
CommandResult mrclab(std::vector<std::string> words);
/// The JSON document that it prints. Its stderr is apart: a long run prints its progress there.
/// std::runtime_error with all its output if its exit code is not 0.
nlohmann::json mrclab_json(std::vector<std::string> words,
                           std::chrono::seconds patience = kTestPatience);

}  // namespace mrclab::lab
