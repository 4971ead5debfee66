#pragma once
// What the verbs of `perf` share: which fabric, world, seed and transport, and how results end.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "lab/perf/perf_run.h"
#include "lab/verbs/cli.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {

struct PerfOptions {
  std::string fabric = "octet";
  std::string world = "sim";
  std::string transport = "lab";
  std::filesystem::path out = default_runs();
  uint64_t seed = 1;
  uint32_t mtu = 0;  ///< 0: the fabric's
  bool json = false;
};
/// FABRIC, --world, --seed, --transport, --out, --json.
void add_perf_options(CLI::App& verb, PerfOptions& options);

/// Throws InputError for a fabric or transport that does not exist, and without root for `live`.
PerfSetup perf_setup(const PerfOptions& options);

/// The host of that name; without a name, `otherwise`. Throws InputError.
uint32_t perf_host(const PerfSetup& setup, const std::string& name, uint32_t otherwise);
/// Hosts by pattern: "all", "h[0-3]". Throws InputError.
std::vector<uint32_t> perf_hosts(const PerfSetup& setup, const std::string& pattern);

/// "4096", "64K", "8M", "1G" (powers of 1024, as perftest and nccl-tests), "64KiB". `option` names
/// it in the InputError.
uint64_t perf_size(const std::string& text, const std::string& option);
/// "500us", "20rtt".
FabricTime perf_time(const PerfSetup& setup, const std::string& text, const std::string& option);
/// "90%", "0.9".
Probability perf_share(const std::string& text, const std::string& option);

/// What a host can send in data when every port is busy, in Gb/s: line rate less all headers.
double header_limited_gbps(const PerfSetup& setup, Bytes message);

/// Prints to stderr what was wrong with a measurement. 0, or 1 for wrong bytes, a failed queue pair
/// or unfinished work, or 3 if a live run was not faithful.
int perf_code(const PerfOutcome& outcome);

void add_perf_writes(CLI::App& perf, CliResult& result);       ///< write_bw, write_lat
void add_perf_collectives(CLI::App& perf, CliResult& result);  ///< all_reduce, ..., sendrecv
void add_perf_flows(CLI::App& perf, CliResult& result);        ///< permutation, incast

}  // namespace mrclab::lab
