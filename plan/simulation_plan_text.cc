#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "plan/fabric_plan_text.h"
#include "plan/simulation_plan.h"

namespace mrclab::lab {
namespace {

constexpr double kUsPlanned =
    100;  ///< the microseconds of fabric time whose duration the text states

std::string scaled(double value, const char* const (&units)[4], double step) {
  size_t unit = 0;
  while (value >= step && unit + 1 < std::size(units)) {
    value /= step;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, value < 10 ? 1 : 0, units[unit]);
}

std::string memory_text(double bytes) {
  return scaled(bytes / 1024, {"KiB", "MiB", "GiB", "TiB"}, 1024);
}

std::string duration_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 1 : 0);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 48 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}

}  // namespace

std::string simulation_text(const SimulationPlan& plan) {
  std::string text =
      "SIMULATED: a permutation at 90 % of line rate, headers only, no captures\n\n"
      "  tried here, just now   packets  core us/packet  KiB a host*   of a port\n";
  for (const SimulationSample& sample : plan.samples) {
    text += fmt::format("  {:>14} hosts{:>13}{:>16.2f}{:>13.0f}{:>10.0f} B\n",
                        grouped(sample.hosts), grouped(sample.delivered), sample.core_us,
                        sample.host_bytes / 1024, sample.port_bytes);
  }
  text += "  * with its share of the switches; the topology apart, by port\n\n";
  text += fmt::format("  {} hosts, {} ports; in a us of fabric time {} packets are\n",
                      grouped(plan.hosts), grouped(plan.ports),
                      grouped(static_cast<uint64_t>(plan.packets)));
  text += fmt::format("  delivered, {:.1f} us of a core each\n", plan.core_us);
  text += fmt::format("  topology {}, which every rank has; nodes {} in all\n\n",
                      memory_text(plan.topology_bytes), memory_text(plan.node_bytes));
  text += "  mpirun -n   memory of each   windows/us   sent by each in one   100 us take\n";
  for (const RankCost& cost : plan.ranks) {
    text += fmt::format(
        "  {:>9}{:>17}{:>13.1f}{:>22}{:>14}\n", cost.ranks, memory_text(cost.memory), cost.windows,
        cost.ranks == 1 ? "-" : memory_text(cost.sent), duration_text(cost.seconds * kUsPlanned));
  }
  return text +
         fmt::format(
             "\n  A core of this machine for each rank. Taken, not measured: an exchange costs\n"
             "  {:.0f} us, and a rank sends {} Gb/s to other machines.\n",
             kExchangeSeconds * 1e6, kRankRate.bps / 1'000'000'000);
}

nlohmann::ordered_json simulation_json(const SimulationPlan& plan) {
  using nlohmann::ordered_json;
  ordered_json samples = ordered_json::array(), ranks = ordered_json::array();
  for (const SimulationSample& sample : plan.samples) {
    samples.push_back({{"hosts", sample.hosts},
                       {"delivered", sample.delivered},
                       {"packets_per_host_us", sample.host_packets},
                       {"core_us_per_packet", sample.core_us},
                       {"host_bytes", sample.host_bytes},
                       {"port_bytes", sample.port_bytes},
                       {"host_frames_per_packet", sample.host_frames},
                       {"cross_shard_frame", sample.cross_shard_frame}});
  }
  for (const RankCost& cost : plan.ranks) {
    ranks.push_back({{"ranks", cost.ranks},
                     {"memory_bytes", cost.memory},
                     {"windows_per_us", cost.windows},
                     {"sent_bytes_per_window", cost.sent},
                     {"seconds_per_us", cost.seconds}});
  }
  return {{"hosts", plan.hosts},
          {"ports", plan.ports},
          {"samples", std::move(samples)},
          {"packets_per_us", plan.packets},
          {"core_us_per_packet", plan.core_us},
          {"topology_bytes", plan.topology_bytes},
          {"node_bytes", plan.node_bytes},
          {"taken_exchange_us", kExchangeSeconds * 1e6},
          {"taken_rank_bps", kRankRate.bps},
          {"ranks", std::move(ranks)}};
}

}  // namespace mrclab::lab
