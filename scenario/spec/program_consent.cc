#include "scenario/spec/program_consent.h"

#include <fmt/format.h>
#include <unistd.h>

#include "console/consent.h"
#include "fabric/text/visible_text.h"
#include "netio/system/path_trust.h"

namespace mrclab::lab {
namespace {

void show_program(const std::string& where, const std::string& command,
                  const std::filesystem::path& folder) {
  fmt::print(stderr, "  {}: {}\n      in {}\n", where, visible(command), visible(folder.string()));
}

void show_programs(const Scenario& scenario, const std::filesystem::path& source) {
  fmt::print(stderr, "{} would run programs here{}:\n", visible(source.string()),
             ::geteuid() == 0 ? ", as root" : "");
  for (const ExecSpec& program : scenario.programs) {
    show_program(fmt::format("h{}", program.host), program.command, program.cwd);
  }
  for (const CheckProgram& program : scenario.check_programs) {
    show_program("as a check", program.command, program.cwd);
  }
}

}  // namespace

bool is_somebody_elses(const std::filesystem::path& scenario_file) {
  std::error_code none;  // opening the file later reports that it is missing
  const auto file = std::filesystem::canonical(scenario_file, none);
  if (none) return false;
  return std::filesystem::exists(file.parent_path() / "schedule.txt", none) ||
         netio::others_may_have_written(file);
}

void require_consent(const Scenario& scenario, const std::filesystem::path& source, bool allowed) {
  if (allowed || (scenario.programs.empty() && scenario.check_programs.empty())) return;
  show_programs(scenario, source);
  if (asked_and_allowed()) return;
  throw InputError(visible(source.string()) +
                   ": found programs that are not allowed: expected --programs, after a look at "
                   "what they do");
}

}  // namespace mrclab::lab
