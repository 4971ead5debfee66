#pragma once
// A lab that stays: `up` starts mrclab-labd, which owns the lab until `down`.
//
// up --fork, setsid, fork, exec--> mrclab-labd <options as JSON> <report descriptor>
//   report pipe, one JSON object per line: {"step","done","total"}* then {"ready":true} or
//   {"error","code"}. If `up` dies before "ready" the pipe breaks and labd takes everything back.
//   control socket /run/mrclab/<lab>/control.sock, JSON-RPC 2.0: status, inspect, clock,
//   clock_state, history, fault, heal, faults, session, down (persistent_methods.h).
//
// With a scenario the lab runs its workload, transport, faults and seed. At the scenario's end the
// workload ends and the record is complete; fabric time goes on, and ordinary traffic with it.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "live/bringup/bring_up.h"

namespace mrclab::lab {

/// What `up` asks for.
struct PersistentOptions {
  /// The fabric, or what takes the place of the scenario's; empty: the scenario's.
  std::filesystem::path fabric_file;
  std::filesystem::path scenario_file;
  std::string workload;  ///< without a scenario: YAML of what the hosts do until `down`; or empty
  std::string lab;
  bool isolate = false;                 ///< one process per node
  bool verbose = false;                 ///< more in the logs of labd and the daemons
  bool paused = false;                  ///< fabric time stays before 0 until resumed
  std::optional<std::string> dilation;  ///< "auto" or a number; empty: the scenario's, or 1000
};
nlohmann::json to_json(const PersistentOptions& options);
/// Throws nlohmann::json::exception.
PersistentOptions persistent_options_from(const nlohmann::json& value);

/// The pace that `--dilation` names: a number, or nothing for auto. Throws InputError.
std::optional<double> parse_dilation(const std::string& text);

/// Starts mrclab-labd and waits until the lab is up. Throws what labd reports: InputError for code
/// 2, else std::runtime_error; SystemError if it cannot be started.
void start_persistent(const PersistentOptions& options, const BringUpProgress& progress);

/// `main` of mrclab-labd.
int persistent_main(int argc, char** argv);

/// The scenario of a persistent lab, resolved, in the lab's directory.
inline constexpr const char* kScenarioFile = "scenario.yaml";

/// The record of its faults that are over, in the same folder (live/world/fault_record.h).
inline constexpr const char* kFaultRecordFile = "faults.over";

/// Control socket of a persistent lab.
std::filesystem::path control_socket(const LabPaths& paths, std::string_view lab);

}  // namespace mrclab::lab
