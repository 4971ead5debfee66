#pragma once
// A program of the user as a check: after the run it gets the run folder as its argument and
// answers with its exit code.
//
//   expect:
//     - program: {command: "./check.py", name: "no more than 40 retransmissions", timeout: 10s}
//
// The command goes to sh -c, in the scenario's folder (or `cwd:`), as the user who runs mrclab, with
// the folder behind it, or in place of "$1". 0 is pass, 1 fail, 3 and everything else inconclusive; the last line that it prints is the check's note,
// all of it is in logs/check-<number>.log. The folder holds everything but the verdict of programs:
// verdict.json, events.jsonl, captures/, faults.jsonl, scenario.yaml. `timeout` (60 s) is time of this
// machine.

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "scenario/spec/program_spec.h"

namespace mrclab::lab {

/// Runs it on a run folder; `index` numbers its log. Never throws for what the program does.
analysis::CheckResult run_check_program(const CheckProgram& program,
                                        const std::filesystem::path& run_folder, size_t index,
                                        const std::function<bool()>& interrupted = {});

}  // namespace mrclab::lab
