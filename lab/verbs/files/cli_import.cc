#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "fabric/text/counted_noun.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml_write.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "lab/verbs/cli.h"
#include "live/translate/containerlab_import.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"
#include "scenario/import/csv_line.h"
#include "scenario/import/incident_import.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

/// A scenario's or a fabric's name out of any text: at most 32 of a-z, 0-9 and dash.
std::string plain_name(const std::string& text) {
  constexpr size_t kMost = 32;
  std::string name;
  for (const char c : text.substr(0, kMost)) {
    const char small = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const bool plain = (small >= 'a' && small <= 'z') || (small >= '0' && small <= '9');
    name += plain ? small : '-';
  }
  while (!name.empty() && name.back() == '-') name.pop_back();
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  return name.empty() ? "imported" : name;
}

/// Refuses to overwrite `out`, which the user may have edited since an earlier import, unless `text` is what it has.
/// Empty: standard output.
void require_new_file(const std::string& out, bool force, const std::string& text) {
  std::error_code ignored;
  if (force || out.empty() || !std::filesystem::exists(out, ignored)) return;
  if (std::filesystem::is_regular_file(out, ignored) && netio::read_file(out) == text) return;
  throw InputError("--out: found " + in_quotes(out) +
                   ", which is there already: expected a new file, or --force beside it");
}

struct ImportVerb {
  std::string log, map, fabric = "octet";
  std::string format = "auto", compress = "auto", quiet, first, out, name;
  std::string workload = "all_reduce: {hosts: all, size: 8MiB, until: end}";
  bool skip_unknown = false, as_json = false, force = false;
};

LogFormat format_of(const std::string& word) {
  if (word == "csv") return LogFormat::kCsv;
  if (word == "json") return LogFormat::kJson;
  return word == "syslog" ? LogFormat::kSyslog : LogFormat::kAuto;
}

ImportOptions options_of(const ImportVerb& verb) {
  ImportOptions options;
  options.skip_unknown = verb.skip_unknown;
  if (verb.compress != "auto") {
    constexpr int64_t kMost = 1'000'000'000'000'000;
    options.compress = static_cast<uint64_t>(
        read_yaml_text(in_quotes(verb.compress), "--compress").as_integer(1, kMost));
  }
  if (!verb.quiet.empty()) {
    options.quiet = read_yaml_text(in_quotes(verb.quiet), "--quiet").as_time();
  }
  if (!verb.first.empty()) {
    options.first = read_yaml_text(in_quotes(verb.first), "--first").as_time();
  }
  return options;
}

/// The fabric as a scenario in `folder` can name it: by its name, or where it lies.
std::string fabric_word(const std::string& fabric, const std::filesystem::path& folder) {
  if (fabric.find('/') == std::string::npos && fabric.find('.') == std::string::npos) return fabric;
  return yaml_string(std::filesystem::absolute(fabric)
                         .lexically_relative(std::filesystem::absolute(folder))
                         .string());
}

int import_command(const ImportVerb& verb) {
  const Topology topology = read_fabric_file(find_fabric(verb.fabric));
  const PortMap ports = PortMap::read(verb.map, topology);
  const LinkLog log = read_link_log_file(verb.log, format_of(verb.format));
  const ImportedIncident incident = import_incident(log, ports, topology, options_of(verb));

  const std::filesystem::path source = verb.log;
  const std::filesystem::path folder = std::filesystem::path(verb.out).parent_path();
  ImportText text;
  text.name = verb.name.empty() ? plain_name(source.stem().string()) : verb.name;
  text.source = source.filename().string();
  text.fabric = fabric_word(verb.fabric, folder);
  text.workload = verb.workload;
  const std::string yaml = to_yaml(incident, topology, text);
  // The scenario must be one that `validate` accepts: a bad --workload or --name shows here.
  parse_scenario(read_yaml_text(yaml, "the imported scenario"), folder);
  require_new_file(verb.out, verb.force, yaml);
  if (verb.out.empty()) {
    fmt::print("{}", yaml);
  } else {
    netio::write_file(verb.out, yaml);
  }
  if (verb.as_json) {
    fmt::print("{}", summary_json(incident, topology));
  } else {
    fmt::print(stderr, "{}", summary(incident, topology));
    if (!verb.out.empty()) fmt::print(stderr, "written to {}\n", verb.out);
  }
  return 0;
}

struct LabImport {
  std::string file, out, name;
  uint32_t hosts_per_leaf = 0;
  bool force = false;
};

int import_lab(const LabImport& given) {
  const YamlValue document = read_containerlab_document(given.file);
  const std::string name =
      given.name.empty() ? plain_name(containerlab_name(document)) : given.name;
  const ImportedFabric fabric = import_containerlab(
      document, name, std::filesystem::path(given.file).filename().string(), given.hosts_per_leaf);
  require_new_file(given.out, given.force, fabric.text);
  if (given.out.empty()) {
    fmt::print("{}", fabric.text);
  } else {
    const std::filesystem::path out = given.out;
    const std::filesystem::path folder = out.parent_path().empty() ? "." : out.parent_path();
    netio::OutputFolder::make(folder).write_file(out.filename(), fabric.text);
  }
  for (const std::string& what : fabric.left_out) {
    fmt::print(stderr, "left out: {}\n", visible(what));
  }
  for (const std::string& which : fabric.decided) fmt::print(stderr, "{}\n", visible(which));
  const Topology topology = build_topology(fabric.shape);
  fmt::print(stderr, "{}: {}, {}, {}, {}\n", name, counted_noun(topology.host_count(), "host"),
             counted_noun(topology.nodes.size() - topology.host_count(), "switch"),
             counted_noun(topology.links.size(), "link"),
             topology.regular()      ? "regular planes"
             : topology.has_planes() ? "planes of three tiers"
                                     : "listed one by one");
  if (!given.out.empty()) fmt::print(stderr, "written to {}\n", given.out);
  return 0;
}

/// Its words are its own: those of the verb above it are not asked for.
void add_lab_import(CLI::App& parent, CliResult& result) {
  auto given = std::make_shared<LabImport>();  // shared with the callback
  CLI::App* verb =
      parent.add_subcommand("containerlab", "A topology of containerlab as a fabric file");
  // These words are its own; those of the verb above are for logs.
  verb->preparse_callback([&parent](size_t) {
    for (CLI::Option* option : parent.get_options()) option->required(false);
  });
  verb->add_option("FILE", given->file, "a .clab.yml")->required();
  verb->add_option("-o,--out", given->out, "where the fabric goes; default: standard output");
  verb->add_option("--name", given->name, "of the fabric; default: the lab's");
  verb->add_option("--hosts-per-leaf", given->hosts_per_leaf,
                   "of a file without hosts: so many on each leaf")
      ->check(CLI::Range(1, 64));
  verb->add_flag("--force", given->force, "write over the file that --out names");
  verb->footer(
      "Hosts and switches are found by kinds, images, labels, icons, names and\n"
      "neighbours, and which decided is printed; regular planes are recognised.\n"
      "docs/other-labs.md has the rules.\n"
      "Example: mrclab import containerlab clos.clab.yml -o clos.yaml");
  verb->callback([given, &result] { result.code = import_lab(*given); });
}

}  // namespace

void add_import_verb(CLI::App& app, CliResult& result) {
  auto verb = std::make_shared<ImportVerb>();  // shared with the callback
  CLI::App* import = add_verb(app, "import");
  // Not required() for CLI11, which would take the name of a verb below this one for it.
  import->add_option("FILE", verb->log, "a table, JSON, or lines of syslog; may be compressed");
  import->add_option("--map", verb->map, "what the log's ports are here: YAML, or .csv")
      ->required();
  import->add_option("--fabric", verb->fabric, "a fabric's name or file")->capture_default_str();
  import->add_option("--format", verb->format, "of FILE: csv, json, syslog or auto")
      ->check(CLI::IsMember({"auto", "csv", "json", "syslog"}))
      ->capture_default_str();
  import->add_option("--compress", verb->compress, "the log's seconds per fabric second, or auto")
      ->capture_default_str();
  import->add_option("--quiet", verb->quiet,
                     "cut longer stretches in which nothing is broken to this: 200us");
  import->add_option("--first", verb->first,
                     "when the first event is: 300us; default: after 27 RTT");
  import->add_option("--workload", verb->workload, "as in a scenario")->capture_default_str();
  import->add_option("--name", verb->name, "of the scenario; default: the file's");
  import->add_option("--out", verb->out, "where the scenario goes; default: standard output");
  import->add_flag("--force", verb->force, "write over the file that --out names");
  import->add_flag("--skip-unknown", verb->skip_unknown, "leave out ports that the map lacks");
  import->add_flag("--json", verb->as_json, "what was read, as JSON (with --out)");
  import->footer(
      "Example: mrclab import incident.csv --map ports.yaml --out incident.yaml\n"
      "         mrclab import containerlab clos.clab.yml -o clos.yaml");
  add_lab_import(*import, result);
  import->callback([import, verb, &result] {
    if (!import->get_subcommands().empty()) return;  // which has done its own work
  if (verb->log.empty()) throw CLI::RequiredError("FILE");
  if (verb->as_json && verb->out.empty()) throw InputError("--json: expected --out beside it");
  result.code = import_command(*verb);
});
}  // namespace mrclab::lab

}  // namespace mrclab::lab
