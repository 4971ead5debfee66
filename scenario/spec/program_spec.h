#pragma once
// Programs of the user's as a scenario file names them: as a workload in hosts (`exec:`, run by
// run/exec_workload.h) and as checks of a run (`program:`, run by run/check_program.h).

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"

namespace mrclab::lab {

inline constexpr size_t kMaxExecPrograms = 256;

/// Whose time a program lives in.
enum class ProgramTime : uint8_t {
  kWall,  ///< this machine's
  kHeld,  ///< the fabric's: it stands still between two requests to its host (verbs/held)
};

/// One `exec:` entry of a workload, for one host.
struct ExecSpec {
  uint32_t host = 0;  ///< its number
  std::string command;
  std::filesystem::path cwd;
  FabricTime at;
  bool until_end = false;
  bool may_fail = false;
  std::optional<std::chrono::milliseconds> timeout;
  bool rdma = true;                 ///< its verbs are those of the host's NIC
  std::optional<ProgramTime> time;  ///< empty: as the scenario's `timing` has it
  bool send_emulated = false;       ///< SENDs on MRC by Write-with-Immediate
  bool operator==(const ExecSpec&) const = default;
};

/// Reads the value of one `exec:`; one spec per host that it names. `base`: the scenario's folder.
std::vector<ExecSpec> parse_exec(const YamlValue& body, NameResolver& names,
                                 const std::filesystem::path& base);
/// "exec: {host: h0, command: ...}"
std::string to_yaml(const ExecSpec& spec);

/// One `program:` entry of `expect:`.
struct CheckProgram {
  std::string command;
  std::string name;  ///< in the verdict
  std::filesystem::path cwd;
  std::chrono::milliseconds timeout{60'000};
  bool operator==(const CheckProgram&) const = default;
};

/// Reads the value of one `program:`. `base`: the scenario's folder. Throws InputError.
CheckProgram parse_check_program(const YamlValue& body, const std::filesystem::path& base);
/// "program: {command: ...}"
std::string to_yaml(const CheckProgram& program);

}  // namespace mrclab::lab
