// validate, doctor, version, completion; and main.

#include <fcntl.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <memory>

#include "fabric/visible_text.h"
#include "fabric/yaml.h"
#include "lab/cli_clock.h"
#include "lab/cli_import.h"
#include "lab/completion.h"
#include "lab/doctor.h"
#include "lab/validate.h"
#include "netio/output_folder.h"

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

namespace {

int parse_and_run(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      app.exit(error);  // --help
      return 0;
    }
    fmt::print(stderr, "mrclab: {}; see --help\n", visible_lines(error.what()));
    return 2;
  }
}

/// What is said of an error may hold words of files.
int complain(const std::string& error, int code) {
  fmt::print(stderr, "mrclab: {}\n", visible_lines(error));
  return code;
}

/// A full disk shows when the last of the output leaves its buffer. A verdict keeps its code.
int flushed(int code) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return complain(std::string("cannot write the output: ") + std::strerror(errno),
                  code == 0 ? 3 : code);
}

/// Else the first file that is opened would take the place of one, and get what is printed.
void hold_standard_descriptors() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) continue;
    if (::open("/dev/null", O_RDWR) != fd) std::abort();
  }
}

}  // namespace

int cli_main(int argc, char** argv) {
  hold_standard_descriptors();
  CLI::App app("mrclab: an eight-plane AI fabric on one laptop", "mrclab");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("mrclab ") + MRCLAB_VERSION);
  CliResult result;
  add_run_verbs(app, result);
  add_chaos_verbs(app, result);
  add_diff_verb(app, result);
  add_report_verb(app, result);
  add_analyze_verb(app, result);
  add_trace_verb(app, result);
  add_blame_verb(app, result);
  add_lab_verbs(app, result);
  add_fault_verbs(app, result);
  add_clock_verb(app, result);
  add_node_verbs(app, result);
  add_transport_verb(app, result);
  add_perf_verbs(app, result);
  add_plan_verb(app, result);
  add_export_verb(app);
  add_import_verb(app, result);
  add_conform_verb(app, result);
  add_machine_verbs(app, result);
  try {
    const int code = parse_and_run(app, argc, argv);
    return flushed(code >= 0 ? code : result.code);
  } catch (const InputError& error) {
    return complain(error.what(), 2);
  } catch (const netio::OutputError& error) {
    return complain(error.what(), 2);
  } catch (const netio::SystemError& error) {
    return complain(netio::explain(error), netio::exit_code(error));
  } catch (const std::exception& error) {
    return complain(error.what(), 3);
  }
}

}  // namespace mrclab::lab
