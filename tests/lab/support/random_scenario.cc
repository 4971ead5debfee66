#include "tests/lab/support/random_scenario.h"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "faults/fault_kind.h"
#include "tests/support/sample_frames.h"

namespace mrclab::test {
namespace {

/// The draws of transports: those of other seeds do not reach here.
constexpr uint64_t kTransportSeeds = 1'000'000;

struct Shape {
  uint32_t planes, t0, t1, hosts_per_t0;
  uint32_t hosts() const { return t0 * hosts_per_t0; }
};

/// fmt::format whose draws happen from left to right, which only braces promise: a seed is the same
/// scenario with every compiler.
struct Text {
  template <class... Values>
  explicit Text(const char* format, const Values&... values)
      : value(fmt::format(fmt::runtime(format), values...)) {}
  std::string value;
};

template <size_t N>
const char* one_of(Numbers& n, const std::array<const char*, N>& words) {
  return words[n.below(N)];
}

std::string fabric_text(Numbers& n, const Shape& shape) {
  std::string text =
      Text{"fabric:\n  name: random\n  planes: {}\n  t0: {}\n  t1: {}\n  hosts_per_t0: {}\n",
           shape.planes, shape.t0, shape.t1, shape.hosts_per_t0}
          .value;
  const uint32_t rate = 100u << n.below(3);
  text += Text{"  host_rate: {}Gb/s\n  fabric_rate: {}Gb/s\n", rate, rate / (1 + n.below(2))}.value;
  text += Text{"  propagation: {}ns\n", 100 + n.below(600)}.value;
  text += Text{"  switch_latency: {}ns\n", 300 + n.below(600)}.value;
  text += Text{"  host_latency: {}ns\n", 300 + n.below(600)}.value;
  text += Text{"  pmtu: {}\n", 512u << n.below(4)}.value;
  text += Text{"  optics: {{t0_downlinks: {}}}\n", 1 + n.below(2)}.value;
  text += Text{"  wires: {}\n", one_of(n, std::array{"veth", "fast"})}.value;
  text += Text{"  ecn: {}\n", one_of(n, std::array{"on", "off", "{min: 0.1, max: 0.3}"})}.value;
  text +=
      Text{"  trim: {}\n", one_of(n, std::array{"on", "off", "{threshold: 0.3, last_hop: 0.5}"})}
          .value;
  text +=
      Text{"  queues: {{control: 0.{}, tail_drop: {}.0}}\n", 5 + n.below(5), 1 + n.below(2)}.value;
  text += Text{"  nic: {}\n",
               one_of(n, std::array{"ideal", "ideal", "{profile: cx8, compress: 20000}",
                                    "{name: slow, port_down_delay: 3us, port_up_delay: 2us, "
                                    "remap_down: [1us, 5us], remap_up: 1us}"})}
              .value;
  return text;
}

std::string transport_text(Numbers& n) {
  return one_of(
      n, std::array{"lab", "lab", "production", "{profile: lab, congestion_control: fixed}",
                    "{profile: lab, congestion_control: fixed, window_percent: 300}",
                    "{profile: production, congestion_control: nscc}",
                    "{profile: lab, trim_nack: off}",
                    "{profile: lab, evs: 4, active_evs: 2, ev_min_active: 1}",
                    "{profile: lab, window_rule: fits, dynamic_mpr: on}",
                    "{profile: lab, sack_base: cumulative, sack_port_mask: on}",
                    "{profile: lab, receive_rate: 200Gb/s, receive_buffer: 65536}",
                    "{profile: lab, dynamic_mpr: on, receive_bitmaps: 2, out_of_window: drop}",
                    "{profile: lab, ack_timeout: 2rtt, icrc: on}"});
}

/// "from: h1, to: h3"
std::string two_hosts(Numbers& n, const Shape& shape) {
  const uint32_t from = n.below(shape.hosts());
  const uint32_t to = (from + 1 + n.below(shape.hosts() - 1)) % shape.hosts();
  return Text{"from: h{}, to: h{}", from, to}.value;
}

std::string workload_text(Numbers& n, const Shape& shape) {
  const std::string qps = n.below(3) == 0 ? Text{", qps: {}", 2 + n.below(3)}.value : "";
  const std::string at = n.below(3) == 0 ? Text{", at: {}us", 1 + n.below(15)}.value : "";
  const uint32_t kib = 4u << n.below(6);
  switch (n.below(9)) {
    case 0:
      return Text{"permutation: {{hosts: all, load: {}%, message: {}KiB, shift: {}{}{}}}",
                  20 + n.below(81),
                  kib,
                  1 + n.below(shape.hosts() - 1),
                  qps,
                  at}
          .value;
    case 1:
      return Text{"write: {{{}, size: {}KiB, count: {}, depth: {}{}{}}}",
                  two_hosts(n, shape),
                  kib,
                  4 + n.below(12),
                  1 + n.below(4),
                  qps,
                  at}
          .value;
    case 2: {
      const uint32_t to = n.below(shape.hosts());
      std::string from;
      for (uint32_t i = 0; i < shape.hosts(); ++i) {
        if (i != to) from += Text{"{}h{}", from.empty() ? "" : ", ", i}.value;
      }
      return Text{"incast: {{from: [{}], to: h{}, load: {}%, message: {}KiB{}{}}}",
                  from,
                  to,
                  40 + n.below(61),
                  kib,
                  qps,
                  at}
          .value;
    }
    case 3:
      return Text{"ping_pong: {{{}, size: {}B, until: end{}}}", two_hosts(n, shape),
                  1 + n.below(9000), at}
          .value;
    default:
      return Text{"{}: {{hosts: all, size: {}KiB, until: end{}{}}}",
                  one_of(n, std::array{"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                       "sendrecv"}),
                  16 * kib, qps, at}
          .value;
  }
}

/// What the transports are, beside MRC as every scenario has it. Drawn apart, so that the rest of a seed's
/// scenario is the same whatever they are.
struct Transports {
  std::string choice;  ///< the scenario's own transport
  std::string fabric;  ///< what the switches do for RoCE
  std::string beside;  ///< a workload of RC beside those that the scenario has
};

std::string roce_options(Numbers& n) {
  std::string text =
      one_of(n, std::array{"", ", recovery: selective", ", recovery: selective, reorder: 16",
                           ", recovery: selective, reorder: 63, adaptive_routing: on"});
  text += one_of(n, std::array{"", ", dcqcn: off", ", dcqcn: paper", ", dcqcn: hpcc"});
  text += one_of(n, std::array{"", "", ", pfc: off"});
  text += one_of(n, std::array{"", ", rc_window: 16", ", rc_ack_every: 1"});
  text += one_of(n, std::array{"", ", rc_ack_timeout: 4rtt", ", rc_timer: connectx"});
  text += one_of(n, std::array{"", ", rc_retries: 1", ", qps: 2", ", qps: 16"});
  return text;
}

std::string roce_fabric(Numbers& n) {
  return Text{"  roce: {{{}{}}}\n",
              one_of(n, std::array{"alpha: 1.0", "alpha: 0.125", "buffer: 0.5"}),
              one_of(n, std::array{"", ", watchdog: {detect: 5us, restore: 3us}",
                                   ", watchdog: {detect: 9us, restore: 2us, action: forward}"})}
      .value;
}

Transports draw_transports(Numbers& n, const std::string& mrc, const Shape& shape) {
  switch (n.below(8)) {
    case 0:
      return {Text{"{{profile: lab, path_choice: {}}}", one_of(n, std::array{"oblivious", "reps"})}
                  .value,
              "", ""};
    case 1:
    case 2:
      return {"{profile: roce, timers: compressed" + roce_options(n) + "}", roce_fabric(n), ""};
    case 3: {
      const std::string choice = "{profile: lab" + roce_options(n) + "}";
      const std::string fabric = roce_fabric(n);
      const std::string entry = workload_text(n, shape);
      return {choice, fabric, entry.substr(0, entry.size() - 1) + ", transport: roce}"};
    }
    default: return {mrc, "", ""};
  }
}

std::string port_with_light(Numbers& n, const Shape& shape) {
  const uint32_t plane = n.below(shape.planes);
  if (shape.t1 == 0 || n.flip()) return Text{"h{}:p{}", n.below(shape.hosts()), plane}.value;
  return Text{"p{}.t0-{}:u{}", plane, n.below(shape.t0), n.below(shape.t1)}.value;
}

/// "p1.t0-0", or of a fabric that has them also "p1.t1-0".
std::string some_switch(Numbers& n, const Shape& shape) {
  const uint32_t plane = n.below(shape.planes);
  if (shape.t1 == 0 || n.flip()) return Text{"p{}.t0-{}", plane, n.below(shape.t0)}.value;
  return Text{"p{}.t1-{}", plane, n.below(shape.t1)}.value;
}

/// "link: \"h0:p1\", direction: up"
std::string some_wires(Numbers& n, const Shape& shape) {
  return Text{"link: \"{}\", direction: {}", port_with_light(n, shape),
              one_of(n, std::array{"up", "down", "both"})}
      .value;
}

std::string some_loss(Numbers& n) {
  switch (n.below(3)) {
    case 0: return Text{"loss: {}%", 1 + n.below(40)}.value;
    case 1:
      return Text{"loss: {}%, burst: {}, gap: {}", 20 + n.below(81), 1 + n.below(20),
                  1 + n.below(100)}
          .value;
    default: return Text{"every: {}", 1 + n.below(30)}.value;
  }
}

/// Target and settings of a fault of this kind, without `for`.
std::string fault_body(Numbers& n, const Shape& shape, faults::FaultKind kind) {
  using Kind = faults::FaultKind;
  const auto wires = [&](const Text& settings) {
    return some_wires(n, shape) + ", " + settings.value;
  };
  const auto host = [&] { return Text{"host: h{}", n.below(shape.hosts())}.value; };
  const auto optic = [&] {
    return Text{"optic: \"p{}.t0-{}:o0\"", n.below(shape.planes), n.below(shape.t0)}.value;
  };
  const uint32_t t0 = n.below(shape.t0), plane = n.below(shape.planes);
  // A T0 with one host and one uplink still has two ports.
  const std::string route = Text{"\"p{}.t0-{}:d0\"", plane, t0}.value;
  const std::string other = Text{"\"p{}.t0-{}:u0\"", plane, t0}.value;
  switch (kind) {
    case Kind::kLinkDown: return Text{"link: \"{}\"", port_with_light(n, shape)}.value;
    case Kind::kBlackhole: return some_wires(n, shape);
    case Kind::kWireLoss:
      if (n.below(3) == 0) return wires(Text{"carrier: lost"});
      return Text{"{}, {}", some_wires(n, shape), some_loss(n)}.value;
    case Kind::kBitErrors: {
      const Text rate{"rate: {}e-{}", 1 + n.below(9), 5 + n.below(3)};
      return n.flip() ? wires(rate) : "switch: " + some_switch(n, shape) + ", " + rate.value;
    }
    case Kind::kDelay:
      return wires(Text{"by: {}ns, up_to: {}ns", 1 + n.below(9'000), 1 + n.below(3'000)});
    case Kind::kJitter: return wires(Text{"up_to: {}ns", 1 + n.below(9'000)});
    case Kind::kReorder:
      return wires(Text{"share: {}%, by: {}ns", 1 + n.below(60), 1 + n.below(9'000)});
    case Kind::kDuplicate: return wires(Text{"share: {}%", 1 + n.below(100)});
    case Kind::kRate: return wires(Text{"to: {}Gb/s", 1 + n.below(120)});
    case Kind::kOpticGlitch:
      return Text{"{}, down: {}us, stagger: {}us", optic(), 2 + n.below(20), n.below(6)}.value;
    case Kind::kOpticDead: return optic();
    case Kind::kFlap:
      return Text{"link: \"{}\", count: {}, down: {}us, up: {}us, up_to: {}ns",
                  port_with_light(n, shape),
                  1 + n.below(4),
                  1 + n.below(8),
                  1 + n.below(8),
                  1 + n.below(3'000)}
          .value;
    case Kind::kPortDown: return Text{"port: \"{}\"", port_with_light(n, shape)}.value;
    case Kind::kNicDead: return host();
    case Kind::kSwitchReboot:
      return Text{"switch: {}, down: {}us, reload: {}us", some_switch(n, shape), 1 + n.below(15),
                  n.below(10)}
          .value;
    case Kind::kSwitchWrongRoute: return "route: " + route + ", to: " + other;
    case Kind::kSwitchMissingRoute: return "route: " + route;
    case Kind::kStaleTable: return "route: [" + route + ", " + other + "]";
    case Kind::kSwitchHang:
    case Kind::kSwitchCrash:
    case Kind::kTrimOff:
    case Kind::kEcnOff:
    case Kind::kEcnAlways: return "switch: " + some_switch(n, shape);
    case Kind::kBuffer:
      return Text{"switch: {}, lost: {}%", some_switch(n, shape), 1 + n.below(100)}.value;
    case Kind::kPlaneDown: return Text{"plane: p{}", n.below(shape.planes)}.value;
    case Kind::kHostPause: return host();
    case Kind::kHostRestart: return Text{"{}, down: {}us", host(), 1 + n.below(20)}.value;
    case Kind::kLossyEv:
      return Text{"{}, path: \"p{}/*\", loss: {}%", host(), plane, 1 + n.below(100)}.value;
    case Kind::kIncast: return Text{"{}, size: {}KiB", two_hosts(n, shape), 1 + n.below(64)}.value;
    case Kind::kSlowReceiver: return Text{"{}, share: {}%", host(), 1 + n.below(100)}.value;
    case Kind::kPcieStall:
    case Kind::kPauseStorm: return host();
    case Kind::kLineCard: return "card: \"" + some_switch(n, shape) + ":c0\"";
    case Kind::kPowerLoss:
      return Text{"zone: {}, down: {}us, reload: {}us", shape.t1 == 0 ? "rack-0" : "spine-0",
                  1 + n.below(15), n.below(10)}
          .value;
    case Kind::kVerbs: return host() + ", qp: 1, status: fatal";
    case Kind::kAttack: return "kind: flood, " + two_hosts(n, shape);
    case Kind::kDrain: return "switch: " + some_switch(n, shape);
    case Kind::kDenylist: return Text{"{}, path: \"p{}/*\"", host(), plane}.value;
  }
  return "";
}

std::string fault_text(Numbers& n, const Shape& shape, uint32_t end_us) {
  const uint32_t at = 3 + n.below(end_us / 2);
  const std::string duration = n.below(4) == 0 ? "" : Text{", for: {}us", 2 + n.below(30)}.value;
  const faults::FaultInfo& kind = faults::all_faults()[n.below(faults::kFaultKinds)];
  const std::string body = fault_body(n, shape, kind.kind);
  return Text{"{{at: {}us, {}: {{{}{}}}}}", at, kind.name, body,
              kind.takes(faults::Parameter::kFor) ? duration : ""}
      .value;
}

}  // namespace

std::string random_scenario(uint64_t seed) {
  Numbers n(seed);
  Shape shape{2 + n.below(3), 1 + n.below(3), 1 + n.below(2), 1 + n.below(2)};
  if (shape.t0 == 3) shape = {2, 2, 1, 1};  // the fabric pair, often
  if (shape.t0 == 1) shape.hosts_per_t0 = 2;
  const uint32_t end_us = 30 + n.below(121);
  std::string text = Text{"name: random-{}\nseed: {}\n", seed, 1 + n.below(1000)}.value;
  text += fabric_text(n, shape);
  Numbers others(seed + kTransportSeeds);
  const Transports transports = draw_transports(others, transport_text(n), shape);
  text += transports.fabric;
  text += "transport: " + transports.choice + "\n";
  text += "workload:\n";
  for (uint32_t i = 1 + n.below(2); i > 0; --i) text += "  - " + workload_text(n, shape) + "\n";
  if (!transports.beside.empty()) text += "  - " + transports.beside + "\n";
  if (const uint32_t faults = n.below(4); faults > 0) {
    text += "faults:\n";
    for (uint32_t i = 0; i < faults; ++i) text += "  - " + fault_text(n, shape, end_us) + "\n";
  }
  text += Text{"end: {}us\nexpect:\n  - no_qp_error\n", end_us}.value;
  if (n.flip()) text += "  - memory_intact\n";
  return text;
}

}  // namespace mrclab::test
