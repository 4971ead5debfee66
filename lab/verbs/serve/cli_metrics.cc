// metrics: what a running lab counts, as OpenMetrics.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "console/interrupt.h"
#include "console/root_rights.h"
#include "console/version.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/fabric_file.h"
#include "lab/persistent/lab_choice.h"
#include "lab/persistent/labd_client.h"
#include "lab/persistent/link_load.h"
#include "lab/serve/metrics_server.h"
#include "lab/verbs/cli.h"
#include "live/inspect/link_states.h"
#include "netio/system/file_descriptor.h"
#include "recorded/counters/recorded_counters.h"
#include "scenario/spec/queue_pairs.h"
#include "telemetry/counter_table.h"
#include "telemetry/fabric_metrics.h"
#include "telemetry/ipfix_export.h"

namespace mrclab::lab {
namespace {

constexpr std::chrono::milliseconds kLookForSignals{50};

struct MetricsOptions {
  std::optional<std::string> name;
  std::optional<std::string> lab;
  std::string by;    ///< "port", "node"; empty: as usual
  std::string only;  ///< a pattern of nodes; empty: all
  std::optional<uint16_t> port;
  std::string address = "127.0.0.1";
  bool names = false;
  std::string every;  ///< a time: of a run folder, which NAME then is
  bool csv = false;
  std::string ipfix;  ///< a file
};

/// One lab, asked anew for each text.
class LabMetrics {
 public:
  LabMetrics(const MetricsOptions& options, const LabRecord& record)
      : record_(record),
        folder_(LabPaths{}.lab_directory(record.lab)),
        topology_(read_fabric_file(folder_ / "fabric.yaml")),
        only_(options.only),
        by_(options.by.empty()     ? telemetry::usual_detail(topology_)
            : options.by == "node" ? telemetry::MetricsBy::kNode
                                   : telemetry::MetricsBy::kPort) {
    refuse_unknown(only_);
  }

  std::string text(const std::string& only) const {
    refuse_unknown(only);
    CounterSample sample = read_counters(topology_, folder_);
    telemetry::FabricCounts counts;
    counts.lab = record_.lab;
    counts.version = release_version();
    counts.nodes = std::move(sample.switches);
    counts.nodes.merge(sample.hosts);
    counts.links_up = link_states(topology_, record_.lab);
    return telemetry::metrics_text(topology_, counts, {by_, only.empty() ? only_ : only});
  }

 private:
  void refuse_unknown(const std::string& pattern) const {
    if (pattern.empty()) return;
    std::vector<std::string> names;
    for (const NodeSite& node : topology_.nodes) names.push_back(node.name);
    check_only(pattern, names, "node");
  }

  LabRecord record_;
  std::filesystem::path folder_;
  Topology topology_;
  std::string only_;
  telemetry::MetricsBy by_;
};

int series_command(const MetricsOptions& options) {
  const RecordedRun run = read_run(options.name.value_or("latest"));
  const FabricTime step =
      parse_instant(options.every, run.scenario.topology, FabricTime(), &run.scenario);
  const telemetry::CounterSeries series = recorded_counters(run, step);
  if (!options.ipfix.empty()) {
    const telemetry::IpfixExport made = telemetry::ipfix_of(series, run.scenario.topology);
    netio::write_file(options.ipfix, made.bytes);
    netio::write_file(options.ipfix + ".csv", made.objects);
    fmt::print("wrote {} ({}, {}, {}) and {}.csv\n", options.ipfix,
               counted_noun(made.messages, "message"), counted_noun(made.records, "record"),
               counted_noun(made.fields, "field"), options.ipfix);
    return 0;
  }
  fmt::print("{}", options.csv ? series.csv() : series.open_metrics());
  return 0;
}

int metrics_command(const MetricsOptions& options) {
  if (options.names) {
    fmt::print("{}", telemetry::names_page());
    return 0;
  }
  if (!options.every.empty()) return series_command(options);
  const LabRecord record = choose_lab(named_lab(options.name, options.lab), "as NAME");
  require_root("metrics");
  require_up(record);
  const LabMetrics metrics(options, record);
  if (!options.port) {
    fmt::print("{}", metrics.text(""));
    return 0;
  }
  const InterruptGuard guard;
  MetricsServer server(options.address, *options.port,
                       [&](const std::string& only) { return metrics.text(only); });
  fmt::print("{}\n", server.link());
  std::fflush(stdout);
  while (!guard.interrupted()) {
    server.serve_for(kLookForSignals);
    if (!std::filesystem::exists(LabPaths{}.lab_directory(record.lab))) {
      fmt::print(stderr, "lab {} is down\n", record.lab);
      return 0;
    }
  }
  return 0;
}

}  // namespace

void add_metrics_verb(CLI::App& app, CliResult& result) {
  auto options =
      std::make_shared<MetricsOptions>();  // shared with the callback, which outlives this
  CLI::App* verb = add_verb(app, "metrics");
  verb->add_option("NAME", options->name, "the lab (default: the only one), or a run folder");
  verb->add_option("--lab", options->lab, "the same as NAME");
  CLI::Option* port =
      verb->add_option("--port", options->port,
                       "answers GET /metrics there until the lab is down; 0: any that is free");
  verb->add_option("--listen", options->address, "address to listen on, with --port")
      ->capture_default_str()
      ->needs(port);
  verb->add_option("--by", options->by,
                   "port, or node: sums over its ports (default: port, up to 1024 of switches)")
      ->check(CLI::IsMember({"port", "node"}));
  verb->add_option("--only", options->only, "nodes with this name or pattern: h3, 'p0.*'");
  verb->add_flag("--names", options->names,
                 "the table of counters: OpenConfig, SONiC, mlx5 and node_exporter call them so");
  CLI::Option* every = verb->add_option(
      "--every", options->every,
      "of a run folder, which NAME then is (default: latest): its ports at steps of this time");
  for (const char* of_lab : {"--lab", "--port", "--by", "--only"}) {
    every->excludes(verb->get_option(of_lab));
  }
  verb->add_flag("--csv", options->csv, "with --every: a line for each step of each counter")
      ->needs(every);
  verb->add_option(
          "--ipfix", options->ipfix,
          "with --every: into FILE, as SONiC's high-frequency telemetry; FILE.csv has what "
          "its numbers stand for")
      ->needs(every)
      ->excludes("--csv");
  verb->footer(
      "OpenMetrics 1.0. Hosts have the names of node_exporter's InfiniBand collector besides, so\n"
      "that dashboards and alerts for them work. A scrape of /metrics?node=h3 gets that node.\n"
      "Fabric time is slower than the scraper's clock: divide by mrclab_fabric_time_seconds.\n"
      "With --every a step is a second of the time stamps, and no root is needed.\n"
      "Example: sudo mrclab metrics octet\n"
      "         mrclab metrics latest --every 10us --csv\n"
      "         sudo mrclab metrics octet --port 9464");
  verb->callback([options, &result] { result.code = metrics_command(*options); });
}

}  // namespace mrclab::lab
