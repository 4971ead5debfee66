// schema: the keys of files, for editors, validators and people.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fabric/text/yaml.h"
#include "lab/schema/json_schema.h"
#include "lab/schema/key_reference.h"
#include "lab/verbs/cli.h"

namespace mrclab::lab {
namespace {

struct SchemaOptions {
  std::string document;
  bool markdown = false;
};

void print_schema(const SchemaOptions& options) {
  if (options.markdown) {
    if (!options.document.empty()) {
      throw InputError("schema: found --markdown beside " + in_quotes(options.document) +
                       ": expected one of them; the page has all kinds of files");
    }
    fmt::print("{}", key_reference());
    return;
  }
  if (options.document.empty()) {
    fmt::print("{}", "One of these has to be named, or --markdown:\n\n");
    for (const DocumentForm& document : document_forms()) {
      fmt::print("  {:<9} {}\n", document.name, document.about);
    }
    return;
  }
  for (const DocumentForm& document : document_forms()) {
    if (document.name == options.document) fmt::print("{}\n", json_schema(document).dump(1));
  }
}

}  // namespace

void add_schema_verb(CLI::App& app, CliResult&) {
  auto options = std::make_shared<SchemaOptions>();  // shared with the callback
  CLI::App* verb = add_verb(app, "schema");
  std::vector<std::string> names;
  for (const DocumentForm& document : document_forms()) names.emplace_back(document.name);
  verb->add_option("KIND", options->document, "which kind of file")->check(CLI::IsMember(names));
  verb->add_flag("--markdown", options->markdown, "all keys of all kinds, as a page for people");
  verb->footer(
      "Shipped files name their schema in their first line, so that an editor with a YAML "
      "language\n"
      "server completes and checks them. Do the same in yours:\n"
      "  # yaml-language-server: $schema=scenario.json\n"
      "Example: mrclab schema scenario > scenario.json");
  verb->callback([options] { print_schema(*options); });
}

}  // namespace mrclab::lab
