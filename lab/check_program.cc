#include "lab/check_program.h"

#include <fmt/format.h>

#include <thread>

#include "fabric/plain_text.h"
#include "fabric/yaml_write.h"
#include "lab/user_program.h"
#include "lab/yaml_text.h"
#include "netio/system_error.h"

namespace mrclab::lab {
namespace {

using std::chrono::milliseconds;

constexpr size_t kMaxName = 64;  // characters in a check's name

/// What an exit code says. 2 is bad usage everywhere here, so it says nothing about the run.
analysis::Result result_of(const netio::ExitStatus& status) {
  if (status.signal_number != 0) return analysis::Result::kInconclusive;
  if (status.code == 0) return analysis::Result::kPass;
  return status.code == 1 ? analysis::Result::kFail : analysis::Result::kInconclusive;
}

/// The name of a check that was given none: its command, as far as it fits on a line.
std::string name_by_command(const std::string& command) {
  std::string name = command.substr(0, kMaxName);
  while (!name.empty() && find_odd_text(name)) name.pop_back();  // the cut may split a character
  for (char& c : name) {
    if (std::string_view("\n\t\"\\").find(c) != std::string_view::npos) c = ' ';
  }
  return name;
}

/// Then it says itself where the folder goes: "grep -q pass $1/verdict.json".
bool names_its_argument(const std::string& command) {
  return command.find("$1") != std::string::npos || command.find("$@") != std::string::npos;
}

}  // namespace

CheckProgram parse_check_program(const YamlValue& body, const std::filesystem::path& base) {
  body.only_keys({"command", "name", "cwd", "timeout"});
  CheckProgram program;
  program.command = read_command(body.require("command"));
  program.name = name_by_command(program.command);
  if (const auto name = body.get("name")) {
    program.name = name->as_string();
    const bool plain = program.name.find_first_of("\n\t\"\\") == std::string::npos;
    if (program.name.empty() || program.name.size() > kMaxName || !plain) {
      name->fail_expecting("a name of at most 64 characters on one line");
    }
  }
  program.cwd = read_folder(body.get("cwd"), base);
  if (const auto timeout = body.get("timeout")) program.timeout = read_wall_time(*timeout);
  return program;
}

std::string to_yaml(const CheckProgram& program) {
  return fmt::format("program: {{command: {}, name: {}, cwd: {}, timeout: {}ms}}",
                     yaml_string(program.command), yaml_string(program.name),
                     yaml_string(program.cwd.string()), program.timeout.count());
}

analysis::CheckResult run_check_program(const CheckProgram& program,
                                        const std::filesystem::path& run_folder, size_t index,
                                        const std::function<bool()>& interrupted) {
  constexpr milliseconds kStep{2};
  constexpr milliseconds kGrace{100};
  analysis::CheckResult check;
  check.name = program.name;
  check.about = program.name + ", by " + program.command;  // what junit.xml and the report show
  UserProgram::Options options;
  options.command = program.command + (names_its_argument(program.command) ? "" : " \"$1\"");
  options.arguments = {std::filesystem::absolute(run_folder).string()};
  options.working_directory = program.cwd;
  options.log_file = run_folder / "logs" / fmt::format("check-{}.log", index);
  options.timeout = program.timeout;
  try {
    UserProgram running(options);
    while (running.step()) {
      if (interrupted && interrupted()) running.end(kGrace);
      std::this_thread::sleep_for(kStep);
    }
    check.note = running.last_line();
    if (running.timed_out() || running.was_ended()) {
      check.note = running.timed_out()
                       ? fmt::format("did not end within {} ms", program.timeout.count())
                       : "interrupted";
      return check;
    }
    check.result = result_of(*running.status());
    check.where = {FabricTime::zero(), FabricTime::never(),
                   fmt::format("logs/check-{}.log", index)};
    check.measured = running.status()->code;
    check.bound = 0;
    check.unit = "exit code";
    if (running.status()->signal_number != 0) check.note = to_string(*running.status());
  } catch (const netio::SystemError& error) {
    check.note = error.what();
  }
  return check;
}

}  // namespace mrclab::lab
