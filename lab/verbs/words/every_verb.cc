#include "lab/verbs/words/every_verb.h"

#include <sys/mman.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <map>

#include "fabric/text/yaml.h"
#include "lab/cli/verb_data.h"
#include "lab/cli/words_file.h"
#include "lab/front/verb_rows.h"
#include "netio/system/child_process.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using netio::check_system_call;

constexpr std::chrono::seconds kPatience{60};  // it takes milliseconds

VerbData asked_of(const std::filesystem::path& program) {
  if (!std::filesystem::exists(program)) {
    throw InputError(
        "found no " + program.string() +
        ", whose verbs are to be listed: expected a whole build, as ./mrclab makes it");
  }
  const netio::FileDescriptor output(
      check_system_call("memfd_create", ::memfd_create("verbs", MFD_CLOEXEC)));
  netio::ChildOptions options;
  options.argv = {program.string()};
  options.stdout_fd = output.get();
  options.environment = {{kVerbDataAsked, "1"}};
  const auto end = netio::ChildProcess::spawn(options).wait(kPatience);
  if (!end || !end->clean()) {
    throw std::runtime_error(program.string() + " did not list its verbs: " +
                             (end ? to_string(*end) : "it is still running"));
  }
  return read_verb_data(netio::read_file("/proc/self/fd/" + std::to_string(output.get())));
}

}  // namespace

EveryVerb every_verb(const CLI::App& app) {
  const std::filesystem::path folder =
      std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::map<std::string_view, VerbData> data;
  EveryVerb made{verb_table(app), words_file_head(app)};
  made.command.verbs.clear();
  for (const VerbRow& row : verb_rows()) {
    if (!data.contains(row.program)) data[row.program] = asked_of(folder / row.program);
    const VerbData& program = data.at(row.program);
    made.command.verbs.push_back(program.verbs.at(std::string(row.name)));
    made.words += program.words.at(std::string(row.name));
  }
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (find_verb_row(verb->get_name()) != nullptr) continue;
    made.words += words_of_verb(*verb, app.get_name() + " " + verb->get_name());
  }
  return made;
}

}  // namespace mrclab::lab
