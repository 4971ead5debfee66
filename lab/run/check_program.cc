#include "lab/run/check_program.h"

#include <fmt/format.h>

#include "lab/run/user_program.h"
#include "netio/rpc/heartbeat.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using analysis::failed, analysis::passed, analysis::unjudged;
using std::chrono::milliseconds;

/// The result of an exit code. 2 is bad usage everywhere here, so it is no result about the run.
analysis::CheckResult judged_by(const netio::ExitStatus& status, analysis::CheckResult check) {
  std::string note = check.note;
  if (status.signal_number != 0) return unjudged(std::move(check), to_string(status));
  if (status.code == 0) {
    return passed(std::move(check), {1, "program", FabricTime::zero(), FabricTime::never(),
                                     analysis::Source::kProgram});
  }
  return status.code == 1 ? failed(std::move(check), std::move(note))
                          : unjudged(std::move(check), std::move(note));
}

/// Then the command itself places the folder: "grep -q pass $1/verdict.json".
bool names_its_argument(const std::string& command) {
  return command.find("$1") != std::string::npos || command.find("$@") != std::string::npos;
}

}  // namespace

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
    netio::keep_looking([&]() -> netio::Heartbeat::Next {
      if (!running.step()) return std::nullopt;
      if (interrupted && interrupted()) running.end(kGrace);
      return kStep;
    });
    check.note = running.last_line();
    if (running.timed_out() || running.was_ended()) {
      check.note = running.timed_out()
                       ? fmt::format("did not end within {} ms", program.timeout.count())
                       : "interrupted";
      return check;
    }
    check = judged_by(*running.status(), std::move(check));
    check.where = {FabricTime::zero(), FabricTime::never(),
                   fmt::format("logs/check-{}.log", index)};
    check.measured = running.status()->code;
    check.bound = 0;
    check.unit = "exit code";
  } catch (const netio::SystemError& error) {
    check.note = error.what();
  }
  return check;
}

}  // namespace mrclab::lab
