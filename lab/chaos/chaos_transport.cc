#include "lab/chaos/chaos_transport.h"

#include "fabric/text/enum_words.h"

#include <fmt/format.h>

#include <array>
#include <set>

namespace mrclab::lab {
namespace {

using endpoint::TransportChoice;

/// Each line may be drawn; options that exclude each other stand in one line. No option leaves
/// fewer entropy values than there are paths, because faults that leave one path count as
/// survivable.
constexpr std::array kOptions{
    "congestion_control: fixed, window_percent: 60",
    "congestion_control: fixed, window_percent: 200",
    "ack_timeout: 4rtt",
    "sack_threshold: 2048",
    "sack_base: cumulative",
    "sack_port_mask: on",
    "window_rule: fits",
    "dynamic_mpr: on",
    "max_psn_range: 256",
    "sack_base: newest",
    "out_of_window: drop",
    "trim_nack: off",
    "active_evs: 8",
    "ev_min_active: 4",
    "max_wimm: 4",
};
/// More options, with draws of their own, so that an old seed keeps its options. `receive_rate` is
/// not drawn: a slow receiver is a fault, which has an end. Its small buffer, and bitmaps that run
/// out, are options.
constexpr std::array kReceiverOptions{
    "receive_buffer: 65536",
    "receive_bitmaps: 32",
};

/// Options of RC; one of each line, or none.
using Line = std::vector<const char*>;
const std::array kRoceOptions{
    Line{"recovery: selective", "recovery: selective, reorder: 16"},
    Line{"dcqcn: off", "dcqcn: off", "dcqcn: paper", "dcqcn: hpcc", "dcqcn: aggressive",
         "dcqcn: most_aggressive"},
    Line{"rc_window: 16", "rc_window: 64", "rc_window: 1024"},
    Line{"rc_ack_timeout: 4rtt", "rc_ack_timeout: 8rtt", "rc_ack_timeout: 16rtt"},
    Line{"rc_retries: 1", "rc_retries: 3", "rc_retries: 5"},
    Line{"rc_ack_every: 1", "rc_ack_every: 4", "rc_ack_every: 128"},
    Line{"cnp_interval: 1us", "cnp_interval: 50us"},
    Line{"pfc: off"},
};
/// Where switches spray, receivers take packets in another order than they were sent in.
constexpr std::array kSprayedOptions{"recovery: selective, reorder: 63", "recovery: placing"};

TransportChoice read_transport(const std::string& text, const Topology& topology) {
  return endpoint::parse_transport(read_yaml_text(text, "chaos").with_rtt(topology.base_rtt),
                                   topology);
}

TransportChoice draw_mrc_options(faults::Draws& draws, faults::Draws& receiver_draws,
                                 const Topology& topology) {
  std::string text = "{profile: lab";
  std::set<std::string> keys;
  for (uint64_t left = draws.below(4); left > 0; --left) {
    const std::string option = kOptions[draws.below(kOptions.size())];
    if (keys.insert(option.substr(0, option.find(':'))).second) text += ", " + option;
  }
  for (const std::string_view option : kReceiverOptions) {
    if (receiver_draws.one_in(8)) text += ", " + std::string(option);
  }
  return read_transport(text + "}", topology);
}

/// The seed itself chooses among what is sprayed, so that no other draw of it moves.
TransportChoice draw_roce_options(uint64_t seed, faults::Draws& draws, const Topology& topology) {
  const bool sprayed = draws.one_in(4);
  // A drawn fault stands for a longer one: its timers are as compressed as its length.
  std::string text = "{profile: roce, timers: compressed";
  if (sprayed) {
    // By FARE they choose by weight, and no NIC asks them to.
    if (!topology.routing.is_fare()) text += ", adaptive_routing: on";
    text += fmt::format(", {}", kSprayedOptions[seed % kSprayedOptions.size()]);
  }
  for (const Line& line : kRoceOptions) {
    const std::string option = draws.one_of(std::span(line));
    const bool taken = draws.one_in(2);
    if (taken && !(sprayed && option.starts_with("recovery"))) text += ", " + option;
  }
  return read_transport(text + "}", topology);
}

}  // namespace

std::string_view name_of(ChaosTransport transport) {
  static constexpr auto kNames =
      words_by_value<ChaosTransport>({{ChaosTransport::kMrc, "mrc"},
                                      {ChaosTransport::kOblivious, "oblivious"},
                                      {ChaosTransport::kReps, "reps"},
                                      {ChaosTransport::kRoce, "roce"},
                                      {ChaosTransport::kMixed, "mrc+roce"}});
  return kNames[static_cast<size_t>(transport)];
}

DrawnTransport draw_transport(uint64_t seed, faults::Draws& draws, faults::Draws& receiver_draws,
                              const Topology& topology, bool roce_possible) {
  DrawnTransport drawn;
  drawn.choice = draw_mrc_options(draws, receiver_draws, topology);
  faults::Draws other(seed, kTransportDraws);
  const uint64_t which = other.below(10);
  if (which == 6)
    drawn.transport = other.one_in(2) ? ChaosTransport::kOblivious : ChaosTransport::kReps;
  if (which > 6 && roce_possible) {
    drawn.transport = which == 9 ? ChaosTransport::kMixed : ChaosTransport::kRoce;
  }
  switch (drawn.transport) {
    case ChaosTransport::kMrc: return drawn;
    case ChaosTransport::kOblivious:
    case ChaosTransport::kReps: {
      const std::string name(name_of(drawn.transport));
      endpoint::replace_options(drawn.choice,
                                read_transport("{path_choice: " + name + "}", topology));
      return drawn;
    }
    case ChaosTransport::kRoce: drawn.choice = draw_roce_options(seed, other, topology); break;
    case ChaosTransport::kMixed:
      endpoint::replace_options(drawn.choice, draw_roce_options(seed, other, topology));
      break;
  }
  constexpr std::array kQps{1u, 1u, 2u, 4u, 16u};
  drawn.qps = other.one_of(std::span<const uint32_t>(kQps));
  if (other.one_in(3)) {
    drawn.watchdog = other.one_in(3) ? WatchdogAction::kForward : WatchdogAction::kDrop;
    drawn.detect = topology.base_rtt * other.between(2, 16);
    drawn.restore = topology.base_rtt * other.between(1, 8);
  }
  return drawn;
}

}  // namespace mrclab::lab
