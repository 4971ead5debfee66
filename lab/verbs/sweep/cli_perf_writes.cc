// `perf write_bw` and `perf write_lat`: perftest's ib_write_bw and ib_write_lat on a fabric.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "analysis/checks/check_result.h"
#include "console/interrupt.h"
#include "console/json_print.h"
#include "endpoint/plan/connection_plan.h"
#include "fabric/paths/path_list.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"
#include "lab/perf/perftest_report.h"
#include "lab/verbs/sweep/cli_perf.h"
#include "lab/verbs/sweep/cli_perf_words.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

using nlohmann::ordered_json;

constexpr uint32_t kBandwidthIterations = 5000;  // perftest
constexpr uint32_t kLatencyIterations = 1000;    // perftest
/// Our choice: without -n a size moves at most this much, so that -a ends in seconds.
constexpr uint64_t kBytesPerSize = 256u << 20;
constexpr uint32_t kLeastIterations = 32;
constexpr uint64_t kLargestSize = 1u << 23;  // perftest -a: 2^1 to 2^23

struct WriteOptions {
  PerfOptions common;
  std::string from, to;
  std::string size;
  uint32_t iterations = 0;
  uint32_t qps = 1;
  uint32_t depth = 128;
  bool all = false;
  bool bidirectional = false;
  bool report_gbits = false;
  bool no_peak = false;
  bool out_json = false;
  std::string json_file = "perftest_out.json";  // perftest
  std::shared_ptr<WordsWithoutMeaning> words;
  std::string duration;
};

struct Ends {
  uint32_t from = 0;
  uint32_t to = 0;
};

/// Without options: from the first host to the last, which is under another T0 if there is one.
Ends ends_of(const PerfSetup& setup, const WriteOptions& options) {
  Ends ends;
  ends.from = perf_host(setup, options.from, 0);
  ends.to = perf_host(setup, options.to, setup.topology.host_count() - 1);
  if (ends.from == ends.to) throw InputError("--from and --to are the same host");
  return ends;
}

std::vector<uint64_t> sizes_of(const WriteOptions& options) {
  if (!options.all) return {perf_size(options.size, "--size")};
  std::vector<uint64_t> sizes;
  for (uint64_t size = 2; size <= kLargestSize; size *= 2) sizes.push_back(size);
  return sizes;
}

void check_size(uint64_t size) {
  if (size == 0 || size > 256u << 20) {
    throw InputError(fmt::format("--size: found {}; expected 1 to 256M", size));
  }
}

std::string path_text(const PerfSetup& setup, const Ends& ends) {
  const bool local = has_path(setup.topology, ends.from, ends.to, {0, kT0LocalUplink});
  return local ? "T0-local" : "across T1";
}

std::string rate_text(const PerfSetup& setup) {
  return fmt::format("{} x {:g} Gb/s", setup.topology.planes,
                     static_cast<double>(setup.topology.host_rate.bps) * 1e-9);
}

std::string address_text(const PerfSetup& setup, std::string_view side,
                         const endpoint::EndPlan& end,
                         const std::optional<endpoint::RegionPlan>& memory) {
  std::string text = fmt::format(" {} address: QPN {:#08x} PSN {:#08x}", side, end.qpn.value,
                                 end.first_psn.value());
  if (memory) text += fmt::format(" RKey {:#010x} VAddr {:#018x}", memory->rkey, memory->va);
  return text + fmt::format("\n GID: {}\n", to_string(host_address(setup.topology, end.host)));
}

std::string header_text(const PerfSetup& setup, const WriteOptions& options, const Ends& ends,
                        std::string_view title, const endpoint::WorkloadSpec& first) {
  std::vector<std::pair<std::string, std::string>> fields{
      {"Fabric", setup.topology.name},
      {"Device", fmt::format("h{} to h{}, {}", ends.from, ends.to, path_text(setup, ends))},
      {"Number of qps", std::to_string(options.qps)},
      {"Transport type", fmt::format("MRC, {}", rate_text(setup))},
      {"Connection type", "MRC"},
      {"Using SRQ", "OFF"},
      {"TX depth", std::to_string(options.depth)},
      {"World", std::string(name_of(setup.world))},
      {"Mtu", fmt::format("{}[B]", setup.topology.pmtu)},
      {"Link type", "Ethernet"}};
  std::string text = perftest_header(title, fields);
  const auto plan = endpoint::plan_connections(setup.topology, {first}, setup.seed);
  const endpoint::ConnectionPlan& connection = plan.front();
  text += address_text(setup, "local", connection.initiator, connection.way_back);
  text += address_text(setup, "remote", connection.acceptor, connection.region);
  return text + perftest_line();
}

ordered_json info_json(const PerfSetup& setup, const WriteOptions& options, const Ends& ends,
                       std::string_view test) {
  return {{"test", test},
          {"Dual_port", "OFF"},
          {"Device", fmt::format("h{}", ends.from)},
          {"Transport_type", "IB"},
          {"Using_SRQ", "OFF"},
          {"PCIe_relax_order", "Unsupported"},
          {"ibv_wr_API", "OFF"},
          {"CQ_Moderation", 1},
          {"Link_type", "Ethernet"},
          {"GID_index", 0},
          {"Max_inline_data", 0},
          {"rdma_cm_QPs", "OFF"},
          {"Use_ROCm_memory", "OFF"},
          {"Data_ex_method", "Ethernet"},
          {"Fabric", setup.topology.name},
          {"from", fmt::format("h{}", ends.from)},
          {"to", fmt::format("h{}", ends.to)},
          {"Number_of_qps", options.qps},
          {"Connection_type", "MRC"},
          {"TX_depth", options.depth},
          {"Mtu", setup.topology.pmtu},
          {"world", name_of(setup.world)},
          {"seed", setup.seed}};
}

/// One size alone as perftest writes it; of several, a list.
std::string json_text(ordered_json info, const std::vector<ordered_json>& rows) {
  ordered_json document{{"test_info", std::move(info)}};
  if (rows.size() == 1) {
    document["results"] = rows.front();
  } else {
    document["results"] = rows;
  }
  return printed(document, "perf") + "\n";
}

/// What stands at the end: JSON on stdout, or the table's last line, and JSON in a file as perftest leaves it.
void print_end(const WriteOptions& options, ordered_json info,
               const std::vector<ordered_json>& rows) {
  const std::string text = json_text(std::move(info), rows);
  fmt::print("{}", options.common.json ? text : perftest_line());
  if (options.out_json) netio::write_file(options.json_file, text);
}

std::vector<endpoint::WorkloadSpec> bandwidth_work(const WriteOptions& options, const Ends& ends,
                                                   uint64_t size) {
  endpoint::WriteSpec spec;
  spec.from = ends.from;
  spec.to = ends.to;
  spec.size = {size};
  spec.qps = options.qps;
  spec.depth = options.depth;
  if (options.duration.empty()) {
    const uint64_t fitting =
        std::max<uint64_t>(kBytesPerSize / (size * options.qps), kLeastIterations);
    const uint64_t each = options.iterations != 0
                              ? options.iterations
                              : std::min<uint64_t>(kBandwidthIterations, fitting);
    spec.count = static_cast<uint32_t>(each * options.qps);
  } else {
    spec.count = 0;
  }
  std::vector<endpoint::WorkloadSpec> work{spec};
  if (options.bidirectional) {
    std::swap(spec.from, spec.to);
    work.emplace_back(spec);
  }
  return work;
}

int bandwidth_command(const WriteOptions& options) {
  options.words->print();
  const InterruptGuard guard;
  PerfSetup setup = perf_setup(options.common);
  setup.interrupted = guard.question();
  const Ends ends = ends_of(setup, options);
  const std::vector<uint64_t> sizes = sizes_of(options);
  for (const uint64_t size : sizes) check_size(size);
  FabricTime duration = FabricTime::never();
  if (!options.duration.empty()) {
    if (options.iterations != 0) throw InputError("-n and -D: expected one of them");
    duration = perf_time(setup, options.duration, "--duration");
    if (duration == FabricTime::zero()) throw InputError("--duration: expected more than 0");
  }
  if (!options.common.json) {
    fmt::print("{}{}",
               header_text(setup, options, ends,
                           options.bidirectional ? "RDMA_Write Bidirectional BW Test"
                                                 : "RDMA_Write BW Test",
                           bandwidth_work(options, ends, sizes.front()).front()),
               bandwidth_heading());
  }
  std::vector<ordered_json> rows;
  int code = 0;
  for (const uint64_t size : sizes) {
    const PerfOutcome outcome = run_perf(setup, bandwidth_work(options, ends, size), duration);
    BandwidthRow row = options.duration.empty() ? bandwidth_row(outcome.work)
                                                : bandwidth_row(outcome.work, duration);
    if (options.no_peak) row.peak_gbps = 0;  // perftest -N
    rows.push_back(to_json(row));
    if (!options.common.json) {
      fmt::print("{}", to_text(row));
      std::fflush(stdout);
    }
    code = analysis::worse_exit_code(code, perf_code(outcome));
    if (code == 1) break;
  }
  print_end(
      options,
      info_json(setup, options, ends,
                options.bidirectional ? "RDMA_Write_Bidirectional_BW_Test" : "RDMA_Write_BW_Test"),
      rows);
  return code;
}

int latency_command(const WriteOptions& options) {
  options.words->print();
  const InterruptGuard guard;
  PerfSetup setup = perf_setup(options.common);
  setup.interrupted = guard.question();
  const Ends ends = ends_of(setup, options);
  const std::vector<uint64_t> sizes = sizes_of(options);
  for (const uint64_t size : sizes) check_size(size);
  endpoint::PingPongSpec spec;
  spec.from = ends.from;
  spec.to = ends.to;
  spec.size = {sizes.front()};
  spec.count = options.iterations != 0 ? options.iterations : kLatencyIterations;
  if (!options.common.json) {
    fmt::print("{}{}", header_text(setup, options, ends, "RDMA_Write Latency Test", spec),
               latency_heading());
  }
  std::vector<ordered_json> rows;
  int code = 0;
  for (const uint64_t size : sizes) {
    spec.size = {size};
    const PerfOutcome outcome = run_perf(setup, {spec});
    code = analysis::worse_exit_code(code, perf_code(outcome));
    if (outcome.work.empty() || outcome.work.front().samples.empty()) break;
    const LatencyRow row = latency_row(outcome.work.front());
    rows.push_back(to_json(row));
    if (!options.common.json) {
      fmt::print("{}", to_text(row));
      std::fflush(stdout);
    }
    if (code == 1) break;
  }
  print_end(options, info_json(setup, options, ends, "RDMA_Write_Latency_Test"), rows);
  return code;
}

void add_shared_options(CLI::App& verb, WriteOptions& options) {
  add_perf_options(verb, options.common);
  verb.add_option("--from", options.from, "sender (default: the first host)");
  verb.add_option("--to", options.to, "receiver (default: the last host)");
  verb.add_option("-s,--size", options.size, "message size: 65536, 64K, 8M")->capture_default_str();
  verb.add_flag("-a,--all", options.all, "sizes from 2 to 2^23");
  verb.add_option("-m,--mtu", options.common.mtu, "payload of a packet (default: the fabric's)")
      ->check(CLI::IsMember({256, 512, 1024, 2048, 4096}));
  verb.add_flag("--report_gbits", options.report_gbits, "Gb/s; always so");
  verb.add_flag("--out_json", options.out_json, "write JSON into a file as well");
  verb.add_option("--out_json_file", options.json_file, "which file")->capture_default_str();
  options.words = add_perftest_words(verb);
}

}  // namespace

void add_perf_writes(CLI::App& perf, CliResult& result) {
  auto bandwidth = std::make_shared<WriteOptions>();  // shared with the callback
  bandwidth->size = "65536";
  CLI::App* bw = perf.add_subcommand("write_bw", "Bandwidth of RDMA writes, as ib_write_bw");
  bw->alias("ib_write_bw");
  add_shared_options(*bw, *bandwidth);
  bw->add_option("-n,--iters", bandwidth->iterations,
                 "writes per queue pair (default: 5000, fewer for large ones)")
      ->check(CLI::Range(1, 1'000'000));
  bw->add_option("-q,--qp", bandwidth->qps, "queue pairs; they share the destination's window")
      ->check(CLI::Range(1u, endpoint::kMaxQps))
      ->capture_default_str();
  bw->add_option("-t,--tx-depth", bandwidth->depth, "writes outstanding per queue pair")
      ->check(CLI::Range(1, 15'000))
      ->capture_default_str();
  bw->add_flag("-b,--bidirectional", bandwidth->bidirectional, "both ways at once; rates add up");
  bw->add_option("-D,--duration", bandwidth->duration,
                 "in place of -n: a fabric time such as 500us or 20rtt");
  bw->add_flag("-N,--noPeak", bandwidth->no_peak, "no peak: shown as 0");
  bw->footer("Example: mrclab perf write_bw octet --from h0 --to h5 -s 65536 -q 4");
  bw->callback([bandwidth, &result] { result.code = bandwidth_command(*bandwidth); });

  auto latency = std::make_shared<WriteOptions>();  // shared with the callback
  latency->size = "2";
  latency->depth = 1;
  CLI::App* lat = perf.add_subcommand("write_lat", "Latency of RDMA writes, as ib_write_lat");
  lat->alias("ib_write_lat");
  add_shared_options(*lat, *latency);
  lat->add_option("-n,--iters", latency->iterations, "round trips (default: 1000)")
      ->check(CLI::Range(1, 20'000));
  lat->footer(
      "A ping-pong of Writes with Immediate; the latency is half of a round trip.\n"
      "Example: mrclab perf write_lat octet --from h0 --to h1");
  lat->callback([latency, &result] { result.code = latency_command(*latency); });
}

}  // namespace mrclab::lab
