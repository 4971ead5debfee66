#pragma once
// A lab that stays: `up` starts mrclab-labd, which owns the lab until `down`.
//
// up --fork, setsid, fork, exec--> mrclab-labd <fabric file> <lab name> <report descriptor>
//   report pipe, one JSON object per line: {"step","done","total"}* then {"ready":true} or
//   {"error","code"}. If `up` dies before "ready" the pipe breaks and labd takes everything back.
//   control socket /run/mrclab/<lab>/control.sock, JSON-RPC 2.0: status, inspect, down.

#include <filesystem>
#include <string>

#include "lab/bring_up.h"

namespace mrclab::lab {

/// What `up` asks for.
struct ResidentOptions {
  std::filesystem::path fabric_file;
  std::string lab;
  bool isolate = false;  ///< one process per node
};

/// Starts mrclab-labd and waits until the lab is up. Throws what labd reports: InputError for code
/// 2, else std::runtime_error; SystemError if it cannot be started.
void start_resident(const ResidentOptions& options, const BringUpProgress& progress);

/// `main` of mrclab-labd.
int resident_main(int argc, char** argv);

/// Control socket of a resident lab.
std::filesystem::path control_socket(const LabPaths& paths, std::string_view lab);

}  // namespace mrclab::lab
