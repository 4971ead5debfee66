#pragma once
// Bandwidth and latency between two standalone ends, measured as perftest's ib_write_bw and
// ib_write_lat do: the client writes `iters` messages of `size` bytes with at most `tx_depth`
// outstanding; or both write to each other in turn. Data is verified: the last message of a bandwidth
// run, every message of a latency run.

#include <cstdint>
#include <string>
#include <vector>

#include "standalone/connection.h"
#include "standalone/endpoint.h"

namespace mrclab::standalone {

struct PerfConfig {
  uint64_t size = 65536;  ///< bytes per message
  uint64_t iters = 1000;
  uint32_t tx_depth = 128;
  uint32_t qps = 1;
  bool latency = false;
};

struct PerfResult {
  double seconds = 0;      ///< wall clock, first post to last completion
  double cpu_seconds = 0;  ///< CPU time of this process meanwhile
  uint64_t bytes = 0;
  uint64_t messages = 0;
  uint64_t packets = 0;  ///< data packets sent or received here, retransmissions included
  uint64_t wrong_bytes = 0;
  std::vector<double> half_rounds_us;  ///< latency runs: sorted
  endpoint::HostStats stats;
  netio::WallDriver::Report driver;

  double gbps() const { return seconds > 0 ? static_cast<double>(bytes) * 8e-9 / seconds : 0; }
};

/// Both ends must be given the same `config`; the server's is checked against the client's. Throws
/// std::runtime_error when a queue pair fails.
PerfResult run_perf_test(StandaloneEndpoint& end, netio::LineChannel& channel,
                         const PerfConfig& config, bool server);

/// perftest's table, or one JSON object.
std::string perf_table(const PerfConfig& config, const PerfResult& result);
std::string perf_json(const PerfConfig& config, const PerfResult& result);

}  // namespace mrclab::standalone
