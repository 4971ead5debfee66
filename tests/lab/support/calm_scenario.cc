#include "tests/lab/support/calm_scenario.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/yaml.h"
#include "scenario/spec/contrast.h"
#include "tests/support/sample_frames.h"

namespace mrclab::test {
namespace {

/// About so many packets a run may send, so that 7,000 runs take minutes.
constexpr double kPackets = 12'000;
constexpr double kLongestUs = 400, kShortestUs = 30;
constexpr double kPmtu = 4096, kHeaders = 150;
constexpr std::array<uint64_t, 12> kSizes{1,    2,      64,      1000,    4095,    4096,
                                          4097, 65'536, 262'144, 1 << 20, 4 << 20, 16 << 20};

struct Shape {
  uint32_t planes, hosts;
};

Shape shape_of(std::string_view fabric) {
  if (fabric == "pair") return {2, 2};
  if (fabric == "single") return {1, 8};
  if (fabric == "trio") return {3, 6};
  if (fabric == "octet") return {8, 8};
  return {1, 24};
}

std::string fabric_text(std::string_view fabric) {
  if (fabric != "racks") return fmt::format("fabric: {}\n", fabric);
  return "fabric: {name: racks, planes: 1, t0: 4, t1: 3, hosts_per_t0: 6, host_rate: 100Gb/s}\n";
}

/// Makes losses by queues, waiting and needless repeats likelier.
std::string transport_text(Numbers& n, bool roce) {
  const uint32_t which = n.below(6);
  if (roce) {
    constexpr std::array<const char*, 6> kOptions{"",
                                                  "",
                                                  "dcqcn: off",
                                                  "dcqcn: off, rc_ack_timeout: 4rtt",
                                                  "rc_ack_timeout: 4rtt",
                                                  "dcqcn: off, rc_ack_every: 128"};
    return kOptions[which];
  }
  constexpr std::array<const char*, 6> kOptions{"",
                                                "",
                                                "congestion_control: fixed",
                                                "trim_nack: off",
                                                "congestion_control: fixed, window_percent: 200",
                                                "ack_timeout: 4rtt"};
  return kOptions[which];
}

/// Shortens the run, or lightens the load, to what may be sent.
struct Budget {
  double us = kLongestUs, share = 1;
  Budget(Numbers& n, double per_us) {
    if (n.below(2) == 0) us = std::clamp(kPackets / per_us, kShortestUs, kLongestUs);
    share = std::min(1.0, kPackets / (per_us * us));
  }
};

}  // namespace

std::string calm_text(std::string_view fabric, std::string_view transport, uint64_t seed) {
  const auto place =
      std::find(kCalmFabrics.begin(), kCalmFabrics.end(), fabric) - kCalmFabrics.begin();
  Numbers n(seed * kCalmFabrics.size() + static_cast<uint64_t>(place));
  const Shape shape = shape_of(fabric);
  const uint64_t size = kSizes[n.below(kSizes.size())];
  const double frame =
      std::max(84.0, std::min<double>(static_cast<double>(size), kPmtu) + kHeaders);
  const double port_per_us = 100e3 / 8 / frame;  // packets of 100 Gb/s
  const double host_per_us = port_per_us * shape.planes;
  const uint32_t kind = n.below(7);
  const uint32_t qps = n.below(3) == 0 ? 2 : 1;
  const uint32_t hosts = shape.hosts;
  const uint32_t from = n.below(hosts), to = (from + 1 + n.below(hosts - 1)) % hosts;
  std::string work;
  double us = kLongestUs;
  const auto load_of = [&](double senders) {
    const double load = std::array{0.1, 0.5, 0.9, 1.0}[n.below(4)];
    const Budget budget(n, host_per_us * load * senders);
    us = budget.us;
    return fmt::format("{:.4f}%", std::max(load * budget.share * 100, 0.01));
  };
  switch (kind) {
    case 0:
    case 6: {
      const uint32_t senders = std::max(1u, std::min(hosts - 1, 1 + n.below(hosts)));
      std::string list;
      for (uint32_t i = 0; i < senders; ++i)
        list += fmt::format("{}h{}", i == 0 ? "" : ", ", 1 + i);
      work = fmt::format("incast: {{from: \"{}\", to: h0, load: {}, message: {}B, qps: {}}}", list,
                         load_of(senders), size, qps);
      break;
    }
    case 1:
      work = fmt::format("permutation: {{hosts: all, load: {}, message: {}B, shift: {}, qps: {}}}",
                         load_of(hosts), size, 1 + n.below(hosts - 1), qps);
      break;
    case 2:
    case 3: {
      const char* word = kind == 2 ? "all_reduce" : "all_to_all";
      const uint64_t whole = std::max<uint64_t>(size / hosts / 4 * 4, 64) * hosts;
      us = Budget(n, host_per_us * hosts).us;
      work = fmt::format("{}: {{hosts: all, size: {}B, until: end, qps: {}}}", word, whole, qps);
      break;
    }
    case 4:
      us = Budget(n, host_per_us).us;
      work =
          fmt::format("ping_pong: {{from: h{}, to: h{}, size: {}B, until: end}}", from, to, size);
      break;
    default:
      us = Budget(n, host_per_us).us;
      work = fmt::format("write: {{from: h{}, to: h{}, size: {}B, count: {}, qps: {}}}", from, to,
                         size, std::array{2, 16, 0}[n.below(3)], qps);
  }
  if (work.find("count: 0") != std::string::npos)
    work.replace(work.find("count: 0"), 8, "until: end");
  const std::string options = transport_text(n, transport.starts_with("roce"));
  return fmt::format(
      "name: calm\n{}seed: {}\ntransport: {{profile: lab{}{}}}\nworkload:\n  - {}\nend: {:.0f}us\n",
      fabric_text(fabric), seed, options.empty() ? "" : ", ", options, work, std::ceil(us));
}

lab::Scenario calm_scenario(std::string_view fabric, std::string_view transport, uint64_t seed) {
  const lab::Scenario scenario =
      lab::parse_scenario(read_yaml_text(calm_text(fabric, transport, seed), "calm_scenario"));
  return lab::under_transport(scenario, lab::find_contrast(scenario, transport));
}

}  // namespace mrclab::test
