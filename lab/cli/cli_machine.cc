// validate, doctor, version, completion.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fabric/yaml.h"
#include "lab/cli/cli.h"
#include "lab/cli/completion.h"
#include "lab/cli/doctor.h"
#include "lab/cli/validate.h"

namespace mrclab::lab {

void add_machine_verbs(CLI::App& app, CliResult& result) {
  auto files = std::make_shared<std::vector<std::string>>();  // shared with the callback
  CLI::App* validate = app.add_subcommand("validate", "Check fabric and scenario files");
  validate->add_option("FILE", *files, "fabric or scenario files")->required();
  validate->footer("Example: mrclab validate topologies/incidents/optic-glitch.yaml");
  validate->callback([files, &result] { result.code = validate_command(*files); });

  auto as_json = std::make_shared<bool>(false);
  CLI::App* doctor = app.add_subcommand("doctor", "Try out what the lab needs of this machine");
  doctor->add_flag("--json", *as_json, "as JSON");
  doctor->footer("Example: sudo mrclab doctor");
  doctor->callback([as_json, &result] { result.code = doctor_command(*as_json); });

  // `test` is the wrapper's: it needs the source tree, not this program.
  CLI::App* test = app.add_subcommand("test", "Run the project's tests (./mrclab test)");
  test->footer("Example: sudo ./mrclab test");
  test->callback(
      [] { throw InputError("tests are run from the source tree: sudo ./mrclab test"); });

  CLI::App* version = app.add_subcommand("version", "Print the version");
  version->footer("Example: mrclab version");
  version->callback([] { fmt::print("mrclab {}\n", MRCLAB_VERSION); });

  CLI::App* completion = app.add_subcommand("completion", "Print bash completion");
  completion->footer("Example: source <(./mrclab completion)");
  completion->callback([&app] { fmt::print("{}", bash_completion(app)); });
}

}  // namespace mrclab::lab
