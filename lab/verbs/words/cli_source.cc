// mrclab-words: test, version, package, completion, man, words; help and mistakes in words of no other program.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "console/version.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/pattern.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/words/completion.h"
#include "lab/verbs/words/every_verb.h"
#include "lab/verbs/words/manual.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {

namespace {

/// It builds, which is the wrapper's work: what is installed has no sources.
void add_package_verb(CLI::App& app) {
  CLI::App* package = add_verb(app, "package");
  package->require_subcommand(1);
  const auto add = [&](const char* name, const char* about, const char* out, const char* footer) {
    auto place = std::make_shared<std::string>();
    CLI::App* verb = package->add_subcommand(name, about);
    verb->add_option("-o,--out", *place, out);
    verb->footer(footer);
    verb->callback(
        [place] { throw InputError("packages are built from the source tree: ./mrclab package"); });
  };
  add("deb", "Build, and pack for this Debian or Ubuntu: programs, data, manual pages, completion",
      "the folder of the package; default: build/packages",
      "Example: ./mrclab package deb -o /tmp && sudo apt-get install /tmp/mrclab_*.deb");
  add("oci", "A container image with the package in it, as an OCI archive",
      "the file; default: build/packages/mrclab_<version>.oci.tar",
      "Needs buildah and mmdebstrap, and user namespaces or root.\n"
      "Example: ./mrclab package oci -o mrclab.oci.tar && podman load -i mrclab.oci.tar");
  package->footer("Example: ./mrclab package deb");
}

void add_completion_verb(CLI::App& app) {
  auto shell = std::make_shared<std::string>("bash");  // shared with the callback
  CLI::App* completion = add_verb(app, "completion");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->capture_default_str();
  completion->footer("Example: source <(./mrclab completion)");
  completion->callback([&app, shell] {
    const Shell kind = *shell == "zsh"    ? Shell::kZsh
                       : *shell == "fish" ? Shell::kFish
                                          : Shell::kBash;
    fmt::print("{}", completion_script(kind, every_verb(app).command));
  });
}

struct ManualOptions {
  std::string verb, out;
};

void print_manual(const Verb& command, const ManualOptions& options) {
  const std::string wanted = command.name + (options.verb.empty() ? "" : "-" + options.verb);
  std::vector<std::string> verbs;
  for (const Verb& verb : command.verbs) verbs.push_back(verb.name);
  if (!options.verb.empty() && std::find(verbs.begin(), verbs.end(), options.verb) == verbs.end()) {
    throw NameError(in_quotes(options.verb) + ", which is no verb", one_of(options.verb, verbs));
  }
  for (const ManualPage& page : manual_pages(command)) {
    if (!options.out.empty()) {
      netio::OutputFolder::make(options.out).write_file(page.name + ".1", page.text);
    } else if (page.name == wanted) {
      fmt::print("{}", page.text);
    }
  }
}

void add_manual_verb(CLI::App& app) {
  auto options = std::make_shared<ManualOptions>();  // shared with the callback
  CLI::App* manual = add_verb(app, "man");
  manual->add_option("VERB", options->verb, "which; without one the page of mrclab itself");
  manual->add_option("--out", options->out, "a folder that all pages are written to");
  manual->footer("Example: mrclab man run | man -l -");
  manual->callback([&app, options] { print_manual(every_verb(app).command, *options); });
}

/// For the source tree alone, so it stands in no help.
void add_words_verb(CLI::App& app) {
  CLI::App* words = app.add_subcommand("words", "Print packaging/words.txt");
  words->group("");
  words->callback([&app] { fmt::print("{}", every_verb(app).words); });
}

}  // namespace

void add_source_verbs(CLI::App& app) {
  // `test` is the wrapper's: it needs the source tree, not this program.
  CLI::App* test = add_verb(app, "test");
  test->footer("Example: sudo ./mrclab test");
  test->callback(
      [] { throw InputError("tests are run from the source tree: sudo ./mrclab test"); });

  CLI::App* version = add_verb(app, "version");
  version->footer("Example: mrclab version");
  version->callback([] { fmt::print("mrclab {}\n", version_text()); });

  add_package_verb(app);
  add_completion_verb(app);
  add_manual_verb(app);
  add_words_verb(app);
}

}  // namespace mrclab::lab
