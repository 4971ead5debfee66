#include "lab/verbs/serve/cli_translate.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "fabric/text/counted_noun.h"
#include "fabric/text/visible_text.h"
#include "fabric/topology/fabric_file.h"
#include "live/translate/containerlab_export.h"
#include "live/translate/kathara_export.h"
#include "live/translate/netlab_export.h"
#include "live/translate/switch_files.h"
#include "netio/system/output_folder.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

struct LabExport {
  std::string fabric, out, switches = "mrclab";
  ExportOptions options;
};

/// What the user typed, for the comment at the top of a file.
std::string command_of(const char* tool, const LabExport& given) {
  std::string text = fmt::format("mrclab export {} {}", tool, visible(given.fabric));
  if (given.switches != "mrclab") text += " --switches " + given.switches;
  if (given.options.bare) text += " --bare";
  if (given.options.link_mtu != 0) text += fmt::format(" --link-mtu {}", given.options.link_mtu);
  if (given.options.dilation != 0) text += fmt::format(" --dilation {:g}", given.options.dilation);
  return text;
}

FabricShape shape_of(const std::string& fabric) {
  return parse_fabric(read_yaml_file(find_fabric(fabric)));
}

ExportOptions options_of(const LabExport& given) {
  ExportOptions options = given.options;
  for (size_t i = 0; i < std::size(kSwitchKinds); ++i) {
    if (kSwitchKinds[i] == given.switches) options.switches = static_cast<SwitchKind>(i);
  }
  return options;
}

/// Writes the files into `folder`; those that are there are replaced.
void write_files(const fs::path& folder, const std::vector<LabFile>& files) {
  for (const LabFile& file : files) {
    const fs::path path = folder / file.path;
    netio::OutputFolder::make(path.parent_path()).write_file(path.filename(), file.text);
  }
}

/// The topology goes to `out`, its files beside it; without `out` the topology to standard output.
void put(const ExportedLab& lab, const std::string& out) {
  if (out.empty()) {
    if (!lab.files.empty()) {
      throw InputError(fmt::format("-o: found none: expected a file, with {} beside it ({}, ...)",
                                   counted_noun(lab.files.size(), "file"), lab.files.front().path));
    }
    fmt::print("{}", lab.text);
    return;
  }
  const fs::path file = out;
  const fs::path folder = file.parent_path().empty() ? "." : file.parent_path();
  write_files(folder, lab.files);
  netio::OutputFolder::make(folder).write_file(file.filename(), lab.text);
  fmt::print("wrote {}\n", file.string());
  if (!lab.files.empty()) {
    fmt::print(
        "wrote {} into {}\n", counted_noun(lab.files.size(), "file"),
        (folder / fs::path(lab.files.front().path).parent_path()).lexically_normal().string());
  }
}

void add_common(CLI::App& verb, LabExport& given, const std::vector<std::string>& kinds) {
  verb.add_option("FABRIC", given.fabric, "a fabric's name or file")->required();
  verb.add_option("--switches", given.switches, "what stands in the place of switches")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  verb.add_option("--image", given.options.image, "container image of hosts and of our switches")
      ->capture_default_str();
  verb.add_option("--switch-image", given.options.switch_image,
                  "of switches; default: that of hosts, or the usual one of the kind");
  verb.add_option("--link-mtu", given.options.link_mtu,
                  "of the lab's links, where it is not as usual, as in a tunnel's")
      ->check(CLI::Range(kLeastLinkMtu, kMostLinkMtu));
  verb.add_option("--dilation", given.options.dilation,
                  "shape each interface (tbf) to its link's rate divided by this")
      ->check(CLI::Range(0.001, 1e9));
}

void add_containerlab_export(CLI::App& parent) {
  auto given = std::make_shared<LabExport>();  // shared with the callback
  CLI::App* verb = parent.add_subcommand(
      "containerlab", "A fabric as a topology that containerlab deploys (.clab.yml)");
  add_common(*verb, *given, {kSwitchKinds.begin(), kSwitchKinds.end()});
  verb->add_option("-o,--out", given->out, "the file; default: standard output");
  verb->add_flag("--bare", given->options.bare, "nodes and links alone, nothing configured");
  verb->footer(
      "Time there is the wall clock's: rates, latencies, marks and faults of the\n"
      "fabric are not in the file, as its first lines state. docs/other-labs.md has\n"
      "the rest.\n"
      "Example: mrclab export containerlab octet -o octet.clab.yml\n"
      "         mrclab export containerlab fare --switches frr -o fare.clab.yml");
  verb->callback([given] {
    put(export_containerlab(shape_of(given->fabric), options_of(*given),
                            command_of("containerlab", *given)),
        given->out);
  });
}

void add_netlab_export(CLI::App& parent) {
  auto given = std::make_shared<LabExport>();  // shared with the callback
  given->switches = "frr";
  given->options.image = usual_image(SwitchKind::kFrr);
  CLI::App* verb = parent.add_subcommand(
      "netlab", "A fabric as a topology of netlab: nodes, links, static routes");
  add_common(*verb, *given, {"frr"});
  verb->add_option("-o,--out", given->out, "the file; default: standard output");
  verb->add_flag("--bare", given->options.bare, "nodes and links alone, nothing configured");
  verb->footer("Example: mrclab export netlab pair -o topology.yml");
  verb->callback([given] {
    put(export_netlab(shape_of(given->fabric), options_of(*given), command_of("netlab", *given)),
        given->out);
  });
}

void add_kathara_export(CLI::App& parent) {
  auto given = std::make_shared<LabExport>();  // shared with the callback
  CLI::App* verb =
      parent.add_subcommand("kathara", "A fabric as a network scenario of Kathara: a folder");
  add_common(*verb, *given, {"mrclab", "frr"});
  verb->add_option("-o,--out", given->out, "the folder; default: the fabric's name and -kathara");
  verb->add_flag("--bare", given->options.bare, "nodes and links alone, nothing configured");
  verb->footer("Example: mrclab export kathara pair -o pair-kathara");
  verb->callback([given] {
    const FabricShape shape = shape_of(given->fabric);
    const fs::path folder = given->out.empty() ? shape.name + "-kathara" : given->out;
    const ExportedLab lab =
        export_kathara(shape, options_of(*given), command_of("kathara", *given));
    write_files(folder, lab.files);
    netio::OutputFolder::make(folder).write_file("lab.conf", lab.text);
    fmt::print("wrote {} and {} beside it\n", (folder / "lab.conf").string(),
               counted_noun(lab.files.size(), "file"));
  });
}

struct SwitchExport {
  std::string fabric, only, out;
};

void add_switch_export(CLI::App& parent, SwitchSystem system, const char* name, const char* about) {
  auto given = std::make_shared<SwitchExport>();  // shared with the callback
  CLI::App* verb = parent.add_subcommand(name, about);
  verb->add_option("FABRIC", given->fabric, "a fabric's name or file")->required();
  verb->add_option("--switch", given->only, "of this switch alone, to standard output");
  verb->add_option(
      "-o,--out", given->out,
      "the folder of a file for each switch; default: the fabric's name and the system's");
  verb->footer(
      fmt::format("Uplinks, uSIDs and routes are the plan's, whatever the fabric's `miscabled`.\n"
                  "What was verified, and what is from documents alone, stands in each file\n"
                  "or in NOTES.txt beside. docs/orchestrator.md has the rest.\n"
                  "Example: mrclab export {} octet --switch p0.t0-0",
                  name));
  verb->callback([given, system, name] {
    const FabricShape shape = shape_of(given->fabric);
    SwitchFiles out = switch_files(system, shape, given->only);
    if (!given->only.empty() && given->out.empty()) {
      fmt::print("{}", out.files.front().text);
      return;
    }
    const fs::path folder = given->out.empty() ? shape.name + "-" + name : given->out;
    const size_t switches = out.files.size();
    out.files.push_back({"NOTES.txt", out.notes});
    write_files(folder, out.files);
    fmt::print("wrote files of {} and NOTES.txt into {}\n", counted_noun(switches, "switch"),
               folder.string());
  });
}

}  // namespace

void add_lab_exports(CLI::App& verb) {
  add_containerlab_export(verb);
  add_netlab_export(verb);
  add_kathara_export(verb);
  add_switch_export(verb, SwitchSystem::kSonic, "sonic",
                    "A fabric as config_db.json of each switch, for SONiC");
  add_switch_export(verb, SwitchSystem::kFrr, "frr",
                    "A fabric as configuration of each switch, for FRR from 10.3 on");
  add_switch_export(verb, SwitchSystem::kEos, "eos",
                    "A fabric as configuration of each switch, for Arista EOS from 4.34.2F on");
}

}  // namespace mrclab::lab
