#include "live/bgpd/speaker_plan.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMaxNeighbours = 1024, kMaxOrigins = 200'000;

std::string hex_octets(const routing::ExtendedCommunity& community, size_t from, size_t count) {
  std::string text = "0x";
  for (size_t i = from; i < from + count; ++i) text += fmt::format("{:02x}", community.octets[i]);
  return text;
}

/// A different one for each way out where an origin has no rate of its own.
BitRate announced_rate(const BgpDaemonSetup::Origin& origin,
                       const SpeakerPlan::Neighbour& neighbour) {
  return origin.rate.value_or(neighbour.rate);
}

routing::ExtendedCommunity bandwidth(const SpeakerPlan& plan, BitRate rate) {
  return routing::make_bandwidth(rate, plan.as, routing::kLinkBandwidth);
}

/// The distinct rates announced to a neighbour.
std::vector<BitRate> announced_rates(const SpeakerPlan& plan,
                                     const SpeakerPlan::Neighbour& neighbour) {
  std::vector<BitRate> rates;
  for (const auto& origin : plan.origins) rates.push_back(announced_rate(origin, neighbour));
  std::sort(rates.begin(), rates.end());
  rates.erase(std::unique(rates.begin(), rates.end()), rates.end());
  return rates;
}

}  // namespace

BgpDaemonSetup daemon_setup(const SpeakerPlan& plan) {
  BgpDaemonSetup setup;
  setup.speaker.as = plan.as;
  setup.speaker.router = plan.router;
  setup.speaker.seed = plan.router.value;
  setup.kernel_routes = plan.kernel_routes;
  setup.origins = plan.origins;
  for (size_t i = 0; i < plan.neighbours.size(); ++i) {
    const SpeakerPlan::Neighbour& from = plan.neighbours[i];
    routing::NeighbourParameters neighbour;
    neighbour.port = PortId{static_cast<uint32_t>(i)};
    neighbour.local = from.local;
    neighbour.remote = from.remote;
    neighbour.as = from.as;
    neighbour.rate = from.rate;
    neighbour.is_host = from.is_host;
    neighbour.takes_filters = from.filters;
    setup.speaker.neighbours.push_back(neighbour);
    setup.devices.push_back(from.device);
    setup.speaker.hold_time = std::min(setup.speaker.hold_time, from.hold);
  }
  return setup;
}

std::string bgpd_config(const SpeakerPlan& plan) {
  std::string text = fmt::format("name: {}\nas: {}\nrouter: {}\nkernel_routes: {}\nneighbours:\n",
                                 plan.name, plan.as.value, routing::to_string(plan.router),
                                 plan.kernel_routes ? "on" : "off");
  for (const SpeakerPlan::Neighbour& n : plan.neighbours) {
    text += fmt::format(
        "  - {{device: {}, local: \"{}\", remote: \"{}\", as: {}, rate: {}, hold: {}", n.device,
        mrclab::to_string(n.local), mrclab::to_string(n.remote), n.as.value, exact(n.rate), n.hold);
    text += std::string(n.filters ? ", filters: on" : "") + (n.is_host ? ", host: on" : "") + "}\n";
  }
  if (!plan.origins.empty()) text += "origins:\n";
  for (const auto& origin : plan.origins) {
    text += fmt::format("  - {{prefix: \"{}\"", routing::to_string(origin.prefix));
    if (origin.rate) text += ", rate: " + exact(*origin.rate);
    if (!origin.device.empty()) text += ", device: " + origin.device;
    text += "}\n";
  }
  return text;
}

SpeakerPlan read_speaker_plan(const std::filesystem::path& file) {
  const YamlValue document = read_yaml_file(file);
  document.only_keys({"name", "as", "router", "kernel_routes", "neighbours", "origins"});
  const auto address = [](const YamlValue& value) {
    const auto parsed = routing::parse_address(value.as_string());
    if (!parsed) value.fail_expecting("an IPv6 address");
    return *parsed;
  };
  const auto as_number = [](const YamlValue& value) {
    return routing::AsNumber{static_cast<uint32_t>(value.as_integer(1, UINT32_MAX))};
  };
  SpeakerPlan plan;
  if (const auto name = document.get("name")) plan.name = name->as_string();
  plan.as = as_number(document.require("as"));
  const YamlValue router = document.require("router");
  in_addr id{};
  if (::inet_pton(AF_INET, router.as_string().c_str(), &id) == 1)
    plan.router.value = ntohl(id.s_addr);
  if (plan.router.value == 0) router.fail_expecting("a router id such as 10.0.0.1");
  if (const auto on = document.get("kernel_routes")) plan.kernel_routes = on->as_bool();
  const YamlValue neighbours = document.require("neighbours");
  for (const YamlValue& item : neighbours.items()) {
    item.only_keys({"device", "local", "remote", "as", "rate", "hold", "filters", "host"});
    SpeakerPlan::Neighbour made;
    if (const auto device = item.get("device")) made.device = device->as_string();
    made.local = address(item.require("local"));
    made.remote = address(item.require("remote"));
    made.as = as_number(item.require("as"));
    made.rate = item.require("rate").as_rate();
    if (const auto hold = item.get("hold")) {
      made.hold = static_cast<uint16_t>(hold->as_integer(0, UINT16_MAX));
      if (made.hold == 1 || made.hold == 2) hold->fail_expecting("0, or at least 3 seconds");
    }
    if (const auto filters = item.get("filters")) made.filters = filters->as_bool();
    if (const auto host = item.get("host")) made.is_host = host->as_bool();
    if (plan.kernel_routes && made.device.empty())
      item.fail("no device", "the interface of its link");
    plan.neighbours.push_back(made);
  }
  if (plan.neighbours.empty() || plan.neighbours.size() > kMaxNeighbours) {
    neighbours.fail_expecting(fmt::format("1 to {} neighbours", kMaxNeighbours));
  }
  const auto origins = document.get("origins");
  for (const YamlValue& item : origins ? origins->items() : std::vector<YamlValue>{}) {
    item.only_keys({"prefix", "rate", "device"});
    const YamlValue prefix = item.require("prefix");
    const auto parsed = routing::Prefix::parse(prefix.as_string());
    if (!parsed) prefix.fail_expecting("an IPv6 prefix");
    std::optional<BitRate> rate;
    if (const auto value = item.get("rate")) rate = value->as_rate();
    if (plan.origins.size() == kMaxOrigins)
      item.fail("more origins", fmt::format("at most {}", kMaxOrigins));
    const auto device = item.get("device");
    if (device && !plan.kernel_routes)
      device->fail("a device without kernel routes", "kernel_routes: on, which watches links");
    plan.origins.push_back({*parsed, rate, device ? device->as_string() : ""});
  }
  return plan;
}

std::string frr_config(const SpeakerPlan& plan) {
  std::string text = fmt::format(
      "hostname {0}\nno zebra nexthop kernel enable\nrouter bgp {1}\n bgp router-id {2}\n"
      " no bgp default ipv4-unicast\n no bgp ebgp-requires-policy\n no bgp network import-check\n"
      " bgp bestpath as-path multipath-relax\n bgp route-map delay-timer 0\n",
      plan.name.empty() ? "peer" : plan.name, plan.as.value, routing::to_string(plan.router));
  std::string family, maps;
  for (size_t i = 0; i < plan.neighbours.size(); ++i) {
    const SpeakerPlan::Neighbour& n = plan.neighbours[i];
    const std::string remote = mrclab::to_string(n.remote);
    text += fmt::format(
        " neighbor {0} remote-as {1}\n neighbor {0} timers {2} {3}\n neighbor {0} timers connect "
        "1\n"
        " neighbor {0} advertisement-interval 0\n neighbor {0} update-source {4}\n",
        remote, n.as.value, n.hold / 3, n.hold, mrclab::to_string(n.local));
    family +=
        fmt::format("  neighbor {0} activate\n  neighbor {0} route-map OUT{1} out\n", remote, i);
    if (n.filters) family += fmt::format("  neighbor {} capability orf prefix-list both\n", remote);
    unsigned place = 10;
    for (const BitRate rate : announced_rates(plan, n)) {
      const std::string list = fmt::format("N{}-{}", i, rate.bps);
      unsigned sequence = 5;
      for (const auto& origin : plan.origins) {
        if (announced_rate(origin, n) != rate) continue;
        maps += fmt::format("ipv6 prefix-list {} seq {} permit {}\n", list, sequence,
                            routing::to_string(origin.prefix));
        sequence += 5;
      }
      maps += fmt::format(
          "route-map OUT{} permit {}\n match ipv6 address prefix-list {}\n"
          " set extcommunity bandwidth {}\n",
          i, place, list, std::clamp<uint64_t>(rate.bps, 1'000'000, kMostOfFrr.bps) / 1'000'000);
      place += 10;
    }
    maps += fmt::format("route-map OUT{} permit {}\n", i, place);
  }
  text += " address-family ipv6 unicast\n";
  // Static routes follow the carrier of their interface (frr_static_config), networks do not.
  for (const auto& origin : plan.origins) {
    if (origin.device.empty()) text += "  network " + routing::to_string(origin.prefix) + "\n";
  }
  if (has_devices(plan)) text += "  redistribute static\n";
  return text + family + "  maximum-paths 64\n exit-address-family\n" + maps;
}

bool has_devices(const SpeakerPlan& plan) {
  return std::any_of(plan.origins.begin(), plan.origins.end(),
                     [](const auto& origin) { return !origin.device.empty(); });
}

std::string frr_static_config(const SpeakerPlan& plan) {
  std::string text;
  for (const auto& origin : plan.origins) {
    if (origin.device.empty()) continue;
    const std::string via = origin.via == Ipv6Address{} ? "" : mrclab::to_string(origin.via) + " ";
    text +=
        fmt::format("ipv6 route {} {}{}\n", routing::to_string(origin.prefix), via, origin.device);
  }
  return text;
}

std::string bird_config(const SpeakerPlan& plan) {
  std::string text = fmt::format(
      "router id {};\nprotocol device {{ scan time 1; }}\nprotocol static origins {{\n  ipv6;\n"
      "  check link yes;\n",
      routing::to_string(plan.router));
  for (const auto& origin : plan.origins) {
    text += fmt::format("  route {} {};\n", routing::to_string(origin.prefix),
                        origin.device.empty() ? "unreachable" : "via \"" + origin.device + "\"");
  }
  text += "}\n";
  // What a node originates is behind it already: the kernel has routes of its own to that.
  if (plan.kernel_routes) {
    text +=
        "protocol kernel {\n  merge paths on limit 64;\n  metric 20;\n"
        "  ipv6 { import none; export where source = RTS_BGP; };\n}\n";
  }
  for (size_t i = 0; i < plan.neighbours.size(); ++i) {
    const SpeakerPlan::Neighbour& n = plan.neighbours[i];
    text += fmt::format(
        "protocol bgp neighbour{} {{\n  local {} as {};\n  neighbor {} as {};\n  interface "
        "\"{}\";\n"
        "  direct;\n  hold time {};\n  connect retry time 1; connect delay time 1; error wait time "
        "1, 2;\n"
        "  ipv6 {{\n    import all;\n    export filter {{\n",
        i, mrclab::to_string(n.local), plan.as.value, mrclab::to_string(n.remote), n.as.value,
        n.device, n.hold);
    for (const BitRate rate : announced_rates(plan, n)) {
      std::string prefixes;
      for (const auto& origin : plan.origins) {
        if (announced_rate(origin, n) != rate) continue;
        prefixes += (prefixes.empty() ? "" : ", ") + routing::to_string(origin.prefix);
      }
      const auto community = bandwidth(plan, rate);
      text += fmt::format("      if net ~ [ {} ] then bgp_ext_community.add((generic, {}, {}));\n",
                          prefixes, hex_octets(community, 0, 4), hex_octets(community, 4, 4));
    }
    text += "      accept;\n    };\n  };\n}\n";
  }
  return text;
}

std::string exabgp_config(const SpeakerPlan& plan) {
  std::string text;
  for (const SpeakerPlan::Neighbour& n : plan.neighbours) {
    const std::string local = mrclab::to_string(n.local);
    text += fmt::format(
        "neighbor {} {{\n  router-id {};\n  local-address {};\n  local-as {};\n  peer-as {};\n"
        "  hold-time {};\n  family {{ ipv6 unicast; }}\n  static {{\n",
        mrclab::to_string(n.remote), routing::to_string(plan.router), local, plan.as.value,
        n.as.value, n.hold);
    for (const auto& origin : plan.origins) {
      text += fmt::format("    route {} next-hop {} extended-community [ {} ];\n",
                          routing::to_string(origin.prefix), local,
                          hex_octets(bandwidth(plan, announced_rate(origin, n)), 0, 8));
    }
    text += "  }\n}\n";
  }
  return text;
}

std::string speaker_config(const SpeakerPlan& plan, SpeakerProgram program) {
  switch (program) {
    case SpeakerProgram::kBgpd: return bgpd_config(plan);
    case SpeakerProgram::kFrr: return frr_config(plan);
    case SpeakerProgram::kBird: return bird_config(plan);
    case SpeakerProgram::kExabgp: return exabgp_config(plan);
  }
  return "";
}

}  // namespace mrclab::lab
