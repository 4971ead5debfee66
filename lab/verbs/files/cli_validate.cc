// validate.

#include <CLI/CLI.hpp>
#include <memory>

#include "lab/verbs/cli.h"
#include "lab/verbs/files/validate.h"

namespace mrclab::lab {

void add_validate_verb(CLI::App& app, CliResult& result) {
  auto files = std::make_shared<std::vector<std::string>>();  // shared with the callback
  CLI::App* validate = add_verb(app, "validate");
  validate->add_option("FILE", *files, "fabrics, scenarios, lessons (.md)")->required();
  validate->footer("Example: mrclab validate topologies/incidents/optic-glitch.yaml");
  validate->callback([files, &result] { result.code = validate_command(*files); });
}

}  // namespace mrclab::lab
