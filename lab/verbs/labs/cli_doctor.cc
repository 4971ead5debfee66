// doctor.

#include <CLI/CLI.hpp>
#include <memory>

#include "lab/verbs/cli.h"
#include "lab/verbs/labs/doctor.h"

namespace mrclab::lab {

void add_doctor_verb(CLI::App& app, CliResult& result) {
  auto as_json = std::make_shared<bool>(false);  // shared with the callback
  CLI::App* doctor = add_verb(app, "doctor");
  doctor->add_flag("--json", *as_json, "as JSON");
  doctor->footer("Example: sudo mrclab doctor");
  doctor->callback([as_json, &result] { result.code = doctor_command(*as_json); });
}

}  // namespace mrclab::lab
