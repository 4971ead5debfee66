#include "standalone/perf_test.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "fabric/text/schema_id.h"

namespace mrclab::standalone {
namespace {

using Clock = std::chrono::steady_clock;
using namespace endpoint;

constexpr std::chrono::seconds kSilence{30};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

uint8_t pattern(uint64_t i, uint64_t message) { return static_cast<uint8_t>(i * 31 + message + 1); }

void fill(std::span<uint8_t> bytes, uint64_t message) {
  for (uint64_t i = 0; i < bytes.size(); ++i) bytes[i] = pattern(i, message);
}

uint64_t count_wrong(std::span<const uint8_t> bytes, uint64_t message) {
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != pattern(i, message);
  return wrong;
}

/// One end of a test: its queue pairs and memory, and what has completed.
class Run {
 public:
  Run(StandaloneEndpoint& end, netio::LineChannel& channel, const PerfConfig& config)
      : end_(end), config_(config), inbox_(config.size), outbox_(config.size) {
    cq_ = end.device().create_completion_queue(2 * (config.tx_depth + 1) * config.qps);
    const MemoryRegion region = end.device().register_memory(inbox_);
    for (uint32_t q = 0; q < config.qps; ++q) {
      connections_.push_back(connect(end, channel, cq_, region));
      if (connections_.back().remote.size.value != config.size) {
        throw std::invalid_argument("the peer was started with another --size");
      }
      end.device().post_receive(connections_.back().qpn, {.id = q});
    }
    fill(outbox_, 0);
    meet(end, channel, config.latency ? "latency" : "bandwidth");
  }

  void bandwidth_client() {
    uint64_t posted = 0;
    while (completed_ < config_.iters) {
      while (posted < config_.iters && posted - completed_ < config_.tx_depth) {
        // The last message of each queue pair ends the test at the server.
        if (!post(posted % config_.qps, posted + config_.qps >= config_.iters)) break;
        ++posted;
      }
      advance();
    }
  }
  void bandwidth_server() {
    const uint64_t last_ones = std::min<uint64_t>(config_.qps, config_.iters);
    while (received_ < last_ones) advance();
    wrong_ += count_wrong(inbox_, 0);
  }
  void latency(bool server) {
    for (uint64_t n = 0; n < config_.iters; ++n) {
      const auto start = Clock::now();
      fill(outbox_, n);
      if (!server && !post(0, true)) throw std::runtime_error("cannot post");
      while (received_ <= n) advance();
      wrong_ += count_wrong(inbox_, n);
      end_.device().post_receive(connections_[0].qpn, {.id = n + 1});
      if (server && !post(0, true)) throw std::runtime_error("cannot post");
      while (completed_ <= n) advance();
      const std::chrono::duration<double, std::micro> took = Clock::now() - start;
      half_rounds_.push_back(took.count() / 2);
    }
  }

  uint64_t wrong() const { return wrong_; }
  std::vector<double> half_rounds() && { return std::move(half_rounds_); }

 private:
  bool post(uint64_t queue, bool tell) {
    WorkRequest request;
    request.local = outbox_;
    request.remote_va = connections_[queue].remote.va;
    request.rkey = connections_[queue].remote.rkey;
    if (tell) request.immediate = static_cast<uint32_t>(queue);
    return end_.device().post(connections_[queue].qpn, std::move(request)) == PostResult::kOk;
  }
  void advance() {
    if (end_.poll()) {
      idle_since_ = {};
    } else {
      end_.wait(std::chrono::milliseconds(1));
      const auto now = Clock::now();
      if (idle_since_ == Clock::time_point{}) idle_since_ = now;
      if (now - idle_since_ > kSilence) throw std::runtime_error("the peer is silent");
    }
    WorkCompletion done[64];
    for (const WorkCompletion& c : end_.device().poll_completions(cq_, done)) {
      if (c.status != WorkStatus::kSuccess)
        throw std::runtime_error(std::string(name_of(c.status)));
      ++(c.opcode == WorkOpcode::kRdmaWrite ? completed_ : received_);
    }
  }

  StandaloneEndpoint& end_;
  PerfConfig config_;
  std::vector<uint8_t> inbox_, outbox_;
  CqHandle cq_;
  std::vector<Connection> connections_;
  uint64_t completed_ = 0, received_ = 0, wrong_ = 0;
  std::vector<double> half_rounds_;
  Clock::time_point idle_since_{};
};

}  // namespace

PerfResult run_perf_test(StandaloneEndpoint& end, netio::LineChannel& channel,
                         const PerfConfig& config, bool server) {
  if (config.size == 0 || config.iters == 0 || config.qps == 0 || config.tx_depth == 0) {
    throw std::invalid_argument("--size, --iters, --qps and --tx-depth must be above 0");
  }
  Run run(end, channel, config);
  PerfResult result;
  const double cpu = cpu_seconds();
  const auto start = Clock::now();
  if (config.latency) {
    run.latency(server);
  } else if (server) {
    run.bandwidth_server();
  } else {
    run.bandwidth_client();
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.cpu_seconds = cpu_seconds() - cpu;
  meet(end, channel, "done");
  result.stats = end.stats();
  result.driver = end.report();
  result.messages = config.iters;
  result.bytes = config.iters * config.size;
  for (const PlaneStats& plane : result.stats.planes) {
    result.packets += server ? plane.rx_packets : 0;
  }
  if (!server) result.packets = result.stats.data_packets_sent + result.stats.retransmissions;
  result.wrong_bytes = run.wrong();
  result.half_rounds_us = std::move(run).half_rounds();
  std::sort(result.half_rounds_us.begin(), result.half_rounds_us.end());
  return result;
}

std::string perf_table(const PerfConfig& config, const PerfResult& r) {
  if (config.latency) {
    const auto at = [&r](size_t percent) {
      return r.half_rounds_us[(r.half_rounds_us.size() - 1) * percent / 100];
    };
    return fmt::format(
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    99% "
        "percentile[usec]\n"
        " {:<7}{:<12} {:>12.2f} {:>14.2f} {:>16.2f} {:>23.2f}\n",
        config.size, config.iters, at(0), at(100), at(50), at(99));
  }
  return fmt::format(
      " #bytes     #iterations    BW average[Gb/sec]   MsgRate[Mpps]\n"
      " {:<10} {:<14} {:>18.2f} {:>15.6f}\n",
      config.size, config.iters, r.gbps(), static_cast<double>(r.messages) / r.seconds * 1e-6);
}

namespace {

/// Bytes of writes placed in memory, by plane.
std::vector<uint64_t> goodput_of_planes(const HostStats& stats) {
  std::vector<uint64_t> bytes;
  for (const PlaneStats& plane : stats.planes) bytes.push_back(plane.rx_payload_bytes);
  return bytes;
}

/// How many packets were put aside, by reason; reasons that there were none of are left out.
nlohmann::json refusal_counts(const HostStats& stats) {
  auto counts = nlohmann::json::object();
  for (size_t i = 0; i < kRefusals; ++i) {
    if (stats.refused[i] != 0) counts[name_of(static_cast<Refusal>(i))] = stats.refused[i];
  }
  return counts;
}

}  // namespace

std::string perf_json(const PerfConfig& config, const PerfResult& r) {
  nlohmann::ordered_json object{{"test", config.latency ? "write_lat" : "write_bw"},
                                {"size", config.size},
                                {"iterations", config.iters},
                                {"qps", config.qps},
                                {"seconds", r.seconds},
                                {"cpu_seconds", r.cpu_seconds},
                                {"bw_average_gbps", r.gbps()},
                                {"packets", r.packets},
                                {"packets_per_second", static_cast<double>(r.packets) / r.seconds},
                                {"wrong_bytes", r.wrong_bytes},
                                {"retransmissions", r.stats.retransmissions},
                                {"goodput_of_planes", goodput_of_planes(r.stats)},
                                {"refused", refusal_counts(r.stats)},
                                {"ring_drops", r.driver.ring_drops},
                                {"send_failures", r.driver.send_failures}};
  if (config.latency) {
    object["t_min_us"] = r.half_rounds_us.front();
    object["t_typical_us"] = r.half_rounds_us[(r.half_rounds_us.size() - 1) / 2];
    object["t_max_us"] = r.half_rounds_us.back();
  }
  return with_schema(std::move(object), "endpoint-perf").dump() + "\n";
}

}  // namespace mrclab::standalone
