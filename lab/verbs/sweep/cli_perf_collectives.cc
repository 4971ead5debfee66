// `perf all_reduce | all_gather | reduce_scatter | all_to_all | sendrecv`: nccl-tests on a fabric.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analysis/checks/check_result.h"
#include "console/interrupt.h"
#include "console/json_print.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "lab/perf/nccl_report.h"
#include "lab/verbs/sweep/cli_perf.h"
#include "lab/verbs/sweep/cli_perf_words.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

using endpoint::CollectiveKind;
using nlohmann::ordered_json;

constexpr uint64_t kMaxBytes = 256u << 20;  // as in scenario files
constexpr uint64_t kMaxSizes = 10'000;      // more than anybody waits for

struct CollectiveOptions {
  PerfOptions common;
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string hosts;              ///< empty: as many as GPUs, or all
  std::string min_bytes = "32M";  // nccl-tests
  std::string max_bytes;          ///< empty: as min_bytes
  uint32_t factor = 2;
  std::string step_bytes;          ///< empty: by the factor
  uint32_t gpus = 1, threads = 1;  // nccl-tests
  uint32_t iterations = 20;        // nccl-tests
  uint32_t warmup = 1;             // nccl-tests
  uint32_t qps = 1;
  int check = 1;
  std::string op = "sum";
  std::string type = "float";  // nccl-tests
  uint32_t aggregated = 1;     // nccl-tests
  int host_time = 1;           // nccl-tests
  std::string json_file;
  std::shared_ptr<WordsWithoutMeaning> words;
};

/// Sizes as the collective can have them: whole elements, as many for each host where it deals in
/// shares (nccl-tests rounds down too, but to 0; ours to one element).
uint64_t rounded(CollectiveKind kind, uint64_t bytes, size_t hosts, uint64_t element_bytes) {
  const bool shares = kind != CollectiveKind::kAllReduce && kind != CollectiveKind::kSendRecv;
  const uint64_t unit =
      std::max(element_bytes, uint64_t{endpoint::kReduceElementBytes}) * (shares ? hosts : 1);
  return std::max(bytes / unit, uint64_t{1}) * unit;
}

uint64_t element_bytes(const CollectiveOptions& options) {
  for (const ElementType& type : element_types()) {
    if (type.name == options.type) return type.bytes;
  }
  return endpoint::kReduceElementBytes;
}

std::vector<uint64_t> sizes_of(const CollectiveOptions& options, size_t hosts) {
  const uint64_t first = perf_size(options.min_bytes, "--minbytes");
  const uint64_t last =
      options.max_bytes.empty() ? first : perf_size(options.max_bytes, "--maxbytes");
  if (first == 0 || first > last || last > kMaxBytes) {
    throw InputError(
        fmt::format("-b {} and -e {}: expected sizes above 0 and up to 256M, the smaller one first",
                    first, last));
  }
  std::vector<uint64_t> sizes;
  const uint64_t step =
      options.step_bytes.empty() ? 0 : perf_size(options.step_bytes, "--stepbytes");
  if (!options.step_bytes.empty() && (step == 0 || (last - first) / step >= kMaxSizes)) {
    throw InputError(
        fmt::format("--stepbytes: found {}: expected at most {} sizes", step, kMaxSizes));
  }
  for (uint64_t size = first; size <= last; size = step > 0 ? size + step : size * options.factor) {
    const uint64_t fitting = rounded(options.kind, size, hosts, element_bytes(options));
    if (sizes.empty() || sizes.back() != fitting) sizes.push_back(fitting);
  }
  return sizes;
}

/// A host stands for a GPU with a NIC of its own, so -g and -t are the number of hosts that take part, from the first on. One GPU
/// in each process (-g 1), as with mpirun, does not give their number.
std::string hosts_of(const CollectiveOptions& options, const PerfSetup& setup) {
  const uint64_t gpus = uint64_t{options.gpus} * options.threads;
  if (!options.hosts.empty()) return options.hosts;
  if (gpus == 1) return "all";
  if (gpus > setup.topology.host_count()) {
    throw InputError(fmt::format(
        "-g {} with -t {}: expected at most {}, as many as {} has", options.gpus, options.threads,
        counted_noun(setup.topology.host_count(), "host"), setup.topology.name));
  }
  std::string hosts = "h0";
  for (uint64_t host = 1; host < gpus; ++host) hosts += fmt::format(",h{}", host);
  return hosts;
}

std::string step_text(const CollectiveOptions& options) {
  if (options.step_bytes.empty()) return fmt::format("{}(factor)", options.factor);
  return fmt::format("{}(bytes)", perf_size(options.step_bytes, "--stepbytes"));
}

std::string header_text(const PerfSetup& setup, const CollectiveOptions& options,
                        const std::vector<uint32_t>& hosts, const std::vector<uint64_t>& sizes) {
  std::string text = fmt::format("# Collective test starting: {}_perf\n", name_of(options.kind));
  text += fmt::format(
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg "
      "iters: {} validation: {} graph: 0 unalign: 0\n#\n",
      sizes.front(), sizes.back(), step_text(options), options.warmup, options.iterations,
      options.aggregated, options.check);
  text +=
      "# Data are words of 32 bits, whose sums are exact; in place is the same run: where results lie\n"
      "# costs nothing here.\n";
  text += fmt::format("# Fabric {}, world {}, seed {}, {} per connection\n# Using devices\n",
                      setup.topology.name, name_of(setup.world), setup.seed,
                      counted_noun(options.qps, "qp"));
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    text +=
        fmt::format("#  Rank {:2} on {:>5}: {} of {:g} Gb/s\n", rank,
                    fmt::format("h{}", hosts[rank]), counted_noun(setup.topology.planes, "port"),
                    static_cast<double>(setup.topology.host_rate.bps) * 1e-9);
  }
  return text + nccl_heading();
}

/// config as nccl-tests writes it, with the ranks in it, and what a fabric adds.
ordered_json config_json(const PerfSetup& setup, const CollectiveOptions& options,
                         const std::vector<uint32_t>& hosts, const std::vector<uint64_t>& sizes) {
  ordered_json config{{"nthreads", options.threads},
                      {"ngpus", options.gpus},
                      {"minimum_bytes", sizes.front()},
                      {"maximum_bytes", sizes.back()}};
  if (options.step_bytes.empty()) {
    config["step_factor"] = options.factor;
  } else {
    config["step_bytes"] = perf_size(options.step_bytes, "--stepbytes");
  }
  config.update({{"warmup_iters", options.warmup},
                 {"iterations", options.iterations},
                 {"aggregated_iterations", options.aggregated},
                 {"validation", options.check},
                 {"graph", 0},
                 {"blocking_collectives", "false"},
                 {"per_iter_timing", "false"},
                 {"per_iter_skip", 0},
                 {"parallel_init", "false"},
                 {"devices", ordered_json::array()},
                 {"fabric", setup.topology.name},
                 {"world", name_of(setup.world)},
                 {"seed", setup.seed},
                 {"qps", options.qps}});
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    config["devices"].push_back({{"rank", rank},
                                 {"group", 0},
                                 {"pid", 0},
                                 {"hostname", fmt::format("h{}", hosts[rank])},
                                 {"device", 0},
                                 {"device_hex", "0000:00:00"},
                                 {"device_info", counted_noun(setup.topology.planes, "port")}});
  }
  return config;
}

ordered_json document(const PerfSetup& setup, const CollectiveOptions& options,
                      const std::vector<uint32_t>& hosts, const std::vector<uint64_t>& sizes,
                      const std::vector<CollectiveRow>& rows) {
  const std::string test = fmt::format("{}_perf", name_of(options.kind));
  ordered_json results = ordered_json::array();
  uint64_t wrong = 0;
  for (const CollectiveRow& row : rows) {
    ordered_json result = nccl_json(options.kind, row, options.check != 0, options.type);
    result["actual_iterations"] = options.iterations;
    result["experiment_name"] = test;
    results.push_back(std::move(result));
    wrong += row.wrong;
  }
  return {{"version", 3},  // of nccl-tests' file
          {"test", test},
          {"nccl_version", 0},  // none
          {"config", config_json(setup, options, hosts, sizes)},
          {"results", results},
          {"out_of_bounds", {{"count", wrong}, {"okay", wrong == 0 ? "true" : "false"}}},
          {"average_bus_bandwidth", {{"bandwidth", average_busbw(rows)}, {"okay", "unchecked"}}}};
}

int collective_command(const CollectiveOptions& options) {
  options.words->print();
  const InterruptGuard guard;
  PerfSetup setup = perf_setup(options.common);
  setup.interrupted = guard.question();
  endpoint::CollectiveSpec spec;
  spec.kind = options.kind;
  spec.hosts = perf_hosts(setup, hosts_of(options, setup));
  if (spec.hosts.size() < 2) throw InputError("--hosts: expected at least two hosts");
  spec.iterations = options.warmup + options.iterations * options.aggregated;
  spec.qps = options.qps;
  const std::vector<uint64_t> sizes = sizes_of(options, spec.hosts.size());
  if (!options.common.json) fmt::print("{}", header_text(setup, options, spec.hosts, sizes));
  std::vector<CollectiveRow> rows;
  int code = 0;
  for (const uint64_t size : sizes) {
    spec.size = {size};
    const PerfOutcome outcome = run_perf(setup, {spec});
    code = analysis::worse_exit_code(code, perf_code(outcome));
    const bool complete =
        std::all_of(outcome.work.begin(), outcome.work.end(),
                    [&](const auto& work) { return work.done == spec.iterations; });
    if (!complete) break;  // a queue pair failed, and perf_code has printed it
    rows.push_back(collective_row(options.kind, size, outcome.work, options.warmup,
                                  outcome.bytes_wrong, static_cast<HostTime>(options.host_time)));
    rows.back().count = elements_of(options.kind, size, spec.hosts.size(), element_bytes(options));
    if (options.common.json) continue;
    fmt::print("{}", nccl_row(options.kind, rows.back(), options.check != 0, options.type));
    std::fflush(stdout);
  }
  const std::string answer =
      printed(document(setup, options, spec.hosts, sizes, rows), "perf") + "\n";
  if (!options.json_file.empty()) netio::write_file(options.json_file, answer);
  if (options.common.json) {
    fmt::print("{}", answer);
  } else {
    fmt::print("{}# Collective test concluded: {}_perf\n", nccl_footer(rows),
               name_of(options.kind));
  }
  return code;
}

void add_collective(CLI::App& perf, CliResult& result, CollectiveKind kind, const char* theirs,
                    const char* about, const char* example) {
  auto options = std::make_shared<CollectiveOptions>();  // shared with the callback
  options->kind = kind;
  CLI::App* verb = perf.add_subcommand(std::string(name_of(kind)), about);
  verb->alias(theirs);
  add_perf_options(*verb, options->common);
  verb->add_option("--hosts", options->hosts,
                   "ranks in order: all, \"h[0-3]\" (default: by -g, or all)");
  verb->add_option("-g,--ngpus", options->gpus,
                   "ranks, each a host, from the first on; 1: all hosts")
      ->check(CLI::Range(uint64_t{1}, kMaxNodes))
      ->capture_default_str();
  verb->add_option("-t,--nthreads", options->threads, "of each so many GPUs")
      ->check(CLI::Range(uint64_t{1}, kMaxNodes))
      ->capture_default_str();
  verb->add_option("-b,--minbytes", options->min_bytes, "smallest size: 8, 64K, 32M")
      ->capture_default_str();
  verb->add_option("-e,--maxbytes", options->max_bytes, "largest size (default: the smallest)");
  verb->add_option("-f,--stepfactor", options->factor, "from one size to the next")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  verb->add_option("-i,--stepbytes", options->step_bytes, "in place of -f: so much is added")
      ->excludes("-f");
  verb->add_option("-o,--op", options->op, "sum, the only one")
      ->check(CLI::IsMember({"sum"}))
      ->capture_default_str();
  verb->add_option("-J,--output_file", options->json_file, "write JSON into this file as well");
  verb->add_option("-n,--iters", options->iterations, "iterations")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  verb->add_option("-w,--warmup_iters", options->warmup, "iterations before, not timed")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  verb->add_option("-c,--check", options->check, "show #wrong; data is compared in any case")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  std::vector<std::string> types;
  for (const ElementType& type : element_types()) types.emplace_back(type.name);
  verb->add_option("-d,--datatype", options->type, "what counts are of, and the column type")
      ->check(CLI::IsMember(types).description(""))  // of one line, too long
      ->capture_default_str();
  verb->add_option("-m,--agg_iters", options->aggregated, "so many times the iterations")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->add_option("-a,--average", options->host_time,
                   "of the hosts' times: 0 the first's, 1 the mean, 2 the shortest, 3 the longest")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  verb->add_option("-q,--qp", options->qps, "queue pairs per connection")
      ->check(CLI::Range(1u, endpoint::kMaxQps))
      ->capture_default_str();
  options->words = add_nccl_words(*verb);
  verb->footer(example);
  verb->callback([options, &result] { result.code = collective_command(*options); });
}

}  // namespace

void add_perf_collectives(CLI::App& perf, CliResult& result) {
  add_collective(perf, result, CollectiveKind::kAllReduce, "all_reduce_perf",
                 "Ring all-reduce, as all_reduce_perf",
                 "Example: mrclab perf all_reduce octet -b 8 -e 32M -f 4");
  add_collective(perf, result, CollectiveKind::kAllGather, "all_gather_perf",
                 "Ring all-gather, as all_gather_perf",
                 "Example: mrclab perf all_gather octet -b 1M -e 32M");
  add_collective(perf, result, CollectiveKind::kReduceScatter, "reduce_scatter_perf",
                 "Ring reduce-scatter, as reduce_scatter_perf",
                 "Example: mrclab perf reduce_scatter octet -b 1M -e 32M");
  add_collective(perf, result, CollectiveKind::kAllToAll, "alltoall_perf",
                 "Every host to every other at once, as alltoall_perf",
                 "Example: mrclab perf all_to_all octet -b 8M");
  add_collective(perf, result, CollectiveKind::kSendRecv, "sendrecv_perf",
                 "Every host to its neighbour in a ring, as sendrecv_perf",
                 "Example: mrclab perf sendrecv octet -b 32M -q 4");
}

}  // namespace mrclab::lab
