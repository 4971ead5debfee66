// export: what a run, a fabric or the packet formats are in other people's tools.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "console/progress.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "lab/serve/page_export.h"
#include "lab/serve/serve_command.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/serve/cli_translate.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/run/run_export.h"
#include "recorded/run/syslog_export.h"
#include "recorded/run/wireshark_dissector.h"
#include "scenario/spec/shipped_files.h"

namespace mrclab::lab {
namespace {

struct WiresharkOptions {
  std::string out = ".", fabric;
  bool install = false;
};

void export_wireshark(const WiresharkOptions& options) {
  std::optional<Topology> topology;
  if (!options.fabric.empty()) topology = read_fabric_file(find_fabric(options.fabric));
  const std::string text = wireshark_dissector(topology ? &*topology : nullptr);
  const std::filesystem::path file = write_dissector(
      options.install ? personal_plugin_folder() : std::filesystem::path(options.out), text);
  fmt::print("wrote {}\n", file.string());
  if (options.install) {
    fmt::print(
        "Wireshark and tshark load it from there, from version 4.2 on not as root.\n"
        "Try: tshark -r FILE -Y mrc\n");
  } else {
    fmt::print("Try: tshark -X lua_script:{} -r FILE -Y mrc\n", file.string());
  }
}

void add_wireshark(CLI::App& parent) {
  auto options = std::make_shared<WiresharkOptions>();  // shared with the callback
  CLI::App* verb = parent.add_subcommand(
      "wireshark", "A dissector of MRC and of the time trailer for Wireshark and tshark (Lua)");
  CLI::Option* out = verb->add_option("--out", options->out, "folder that mrclab.lua is written to")
                         ->capture_default_str();
  verb->add_flag("--install", options->install, "into ~/.local/lib/wireshark/plugins")
      ->excludes(out);
  verb->add_option("--fabric", options->fabric,
                   "a fabric's name or file: then uSIDs and wires have its names");
  verb->footer(
      "Example: mrclab export wireshark --install --fabric octet\n"
      "         tshark -r runs/latest/captures/sim.pcapng -Y mrc.neth.reason");
  verb->callback([options] { export_wireshark(*options); });
}

struct RunExportOptions {
  std::string run, out, limit = "1GiB";
};

/// How long the file may become.
uint64_t bytes_in(const std::string& text) {
  return read_yaml_text("value: " + text + "\n", "--limit").require("value").as_bytes().value;
}

void export_run_as(RunFormat format, const RunExportOptions& options) {
  const uint64_t limit = bytes_in(options.limit);
  const RunExport done = while_ticking("exporting", evidence_text(options.run), [&] {
    return export_run(format, options.run, options.out, limit);
  });
  fmt::print("wrote {} ({}, {:.1f} MB)\n", done.file.string(), counted_noun(done.events, "event"),
             static_cast<double>(done.bytes) * 1e-6);
  for (const std::string& note : done.notes) fmt::print("note: {}\n", note);
}

void add_run_format(CLI::App& parent, RunFormat format, const char* name, const char* about,
                    const char* footer) {
  auto options = std::make_shared<RunExportOptions>();  // shared with the callback
  CLI::App* verb = parent.add_subcommand(name, about);
  verb->add_option("RUN", options->run, "a run folder, or latest")->required();
  verb->add_option("--out", options->out,
                   std::string("the file; default: run") + std::string(suffix_of(format)) +
                       " in the run folder");
  verb->add_option("--limit", options->limit,
                   "how long the file may become; what is left out is named")
      ->capture_default_str();
  verb->footer(footer);
  verb->callback([format, options] { export_run_as(format, *options); });
}

struct SyslogOptions {
  std::string run, out, switches = "sonic";
  uint64_t stretch = kUsualStretch;
};

void export_syslog(const SyslogOptions& options) {
  const RecordedRun run = read_run(options.run);
  const Scenario scenario = recorded_scenario(run.folder);
  const SyslogExport made = syslog_of(
      scenario, options.switches == "eos" ? SwitchLog::kEos : SwitchLog::kSonic, options.stretch);
  const std::filesystem::path log =
      options.out.empty() ? run.folder / "run.log" : std::filesystem::path(options.out);
  std::filesystem::path map = log;
  map.replace_extension(".map.yaml");
  netio::write_file(log, made.log);
  netio::write_file(map, made.ports);
  renew_in_manifest(run.folder, log);
  renew_in_manifest(run.folder, map);
  fmt::print("wrote {} ({}) and {}\n", log.string(), counted_noun(made.lines, "line"),
             map.string());
  if (made.lines > 0) {
    fmt::print("Back: mrclab import {} --map {} --fabric {} --compress {} --first {}\n",
               log.string(), map.string(), scenario.topology.name, options.stretch,
               exact(made.first));
  }
  for (const std::string& note : made.notes) fmt::print("note: {}\n", note);
}

void add_syslog(CLI::App& parent) {
  auto options = std::make_shared<SyslogOptions>();  // shared with the callback
  CLI::App* verb = parent.add_subcommand(
      "syslog", "What the devices of a run report of their links, as lines of syslog");
  verb->add_option("RUN", options->run, "a run folder, or latest")->required();
  verb->add_option("-o,--out", options->out,
                   "the file; default: run.log in the run folder. The map of names is beside it");
  verb->add_option("--switches", options->switches, "what they run: sonic, or eos")
      ->check(CLI::IsMember({"sonic", "eos"}))
      ->capture_default_str();
  verb->add_option("--stretch", options->stretch, "seconds of the log per fabric second")
      ->capture_default_str();
  verb->footer(
      "Hosts write as Linux' mlx5_core does. Fabric time 0 is 2026-01-01 00:00:00 UTC, and\n"
      "1 us is a second, unless --stretch is another. What no device reports is not there.\n"
      "Example: mrclab export syslog latest --switches eos -o rack.log");
  verb->callback([options] { export_syslog(*options); });
}

struct PageOptions {
  ServeCommandOptions served;
  std::string out;
};

void export_page(const PageOptions& options) {
  const PageSimulator simulator = read_page_simulator();  // first: without it all else is in vain
  const PlayedSession played = served_session(options.served);
  const std::string page = exported_page(played, simulator);
  const std::filesystem::path file =
      options.out.empty() ? played.session().scenario().name + ".html" : options.out;
  netio::write_file(file, page);
  fmt::print("wrote {} ({:.1f} MB)\nIt opens in a browser, without a network.\n", file.string(),
             static_cast<double>(page.size()) * 1e-6);
}

void add_page(CLI::App& parent) {
  auto options = std::make_shared<PageOptions>();  // shared with the callback
  CLI::App* verb = parent.add_subcommand(
      "page", "The page of `mrclab serve` as one file, with the simulator in it");
  verb->add_option("WHAT", options->served.what, "a scenario, a fabric or a run folder")
      ->required();
  verb->add_option("-o,--out", options->out, "the file; default: the scenario's name and .html");
  verb->add_option("--at", options->served.at, "where it stands at first: 295us");
  verb->add_option("--end", options->served.end,
                   "when a fabric without a scenario ends; default: 2ms");
  verb->add_option("--seed", options->served.seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  verb->footer(
      "It opens offline in a browser, and there the world can be broken, rewound and\n"
      "forked; the history is that of --world sim. The simulator for browsers is built\n"
      "by the first `./mrclab export page`, with Debian's emscripten, in some minutes.\n"
      "Example: mrclab export page optic-glitch --at 295us -o glitch.html");
  verb->callback([options] { export_page(*options); });
}

}  // namespace

void add_export_verb(CLI::App& app, CliResult&) {
  CLI::App* verb = add_verb(app, "export");
  verb->require_subcommand(1);
  add_page(*verb);
  add_wireshark(*verb);
  add_lab_exports(*verb);
  add_run_format(
      *verb, RunFormat::kQlog, "qlog",
      "A run as qlog: JSON text sequences of packets, losses, EV states, faults",
      "Times are ms of fabric time.\nExample: mrclab export qlog latest --out run.sqlog");
  add_run_format(*verb, RunFormat::kPerfetto, "perfetto",
                 "A run for ui.perfetto.dev: transmissions, losses, EV states, faults, goodput",
                 "Example: mrclab export perfetto latest\n"
                 "         then open runs/latest/run.pftrace at https://ui.perfetto.dev");
  add_syslog(*verb);
  verb->footer("Example: mrclab export wireshark --install");
}

}  // namespace mrclab::lab
