#include "fabric/topology/fabric_file.h"

#include <algorithm>
#include <functional>

#include "fabric/topology/fabric_form.h"
#include "fabric/topology/forwarding_file.h"
#include "fabric/topology/graph_file.h"
#include "fabric/topology/pattern.h"

namespace mrclab {
namespace {

/// A word or a whole number of the file itself, as its form has it; absent: `out` stays.
template <class T>
void read_word_of(const YamlValue& file, std::string_view key, T& out) {
  const auto value = file.get(key);
  if (value) out = static_cast<T>(read_word(*value, fabric_form().at(key)));
}

void read_time(const YamlValue& map, std::string_view key, FabricTime& out) {
  if (const auto value = map.get(key)) out = value->as_time();
}

/// Our choice: 2,000 km of fibre, far more than any AI fabric has. A run with
/// longer ones never ends.
constexpr FabricTime kLongestWay = FabricTime::from_ms(10);

void read_way_time(const YamlValue& map, std::string_view key, FabricTime& out) {
  read_time(map, key, out);
  if (out > kLongestWay) map.require(key).fail_expecting("at most " + exact(kLongestWay));
}

/// A multiple of Plane_BDP such as 0.8, in thousandths.
void read_multiple(const YamlValue& map, std::string_view key, uint32_t& out) {
  const auto value = map.get(key);
  if (!value) return;
  const std::string expected = "a multiple of the plane BDP such as 0.8, from 0.001 to 100";
  const std::string text = value->is_scalar() ? value->as_string() : "";
  const size_t point = std::min(text.find('.'), text.size());
  const std::string whole = text.substr(0, point);
  std::string decimals = point < text.size() ? text.substr(point + 1) : "0";
  const auto digits = [](const std::string& s) {
    return !s.empty() && s.size() <= 3 && s.find_first_not_of("0123456789") == std::string::npos;
  };
  if (!digits(whole) || !digits(decimals)) value->fail_expecting(expected);
  decimals.resize(3, '0');
  const unsigned long result = std::stoul(whole) * 1000 + std::stoul(decimals);
  if (result == 0 || result > 100'000) value->fail_expecting(expected);
  out = static_cast<uint32_t>(result);
}

/// A count that the address plan bounds. If it fits the other address plan only, the error names that plan.
uint32_t read_numbered(const YamlValue& file, std::string_view key, int64_t min, AddressPlan plan,
                       const std::function<uint32_t(const UsidLayout&)>& room_in) {
  const UsidLayout usids = UsidLayout::of(plan);
  const UsidLayout other =
      UsidLayout::of(plan == AddressPlan::kLab ? AddressPlan::kFull : AddressPlan::kLab);
  const uint32_t room = room_in(usids);
  const YamlValue value = file.require(key);
  const int64_t count = value.as_integer(min, std::max(room, room_in(other)));
  if (count > room) {
    value.fail_expecting("at most " + std::to_string(room) + " with address_plan: " +
                         std::string(usids.name()) + " (" + std::to_string(room_in(other)) +
                         " with address_plan: " + std::string(other.name()) + ")");
  }
  return static_cast<uint32_t>(count);
}

void read_shape(const YamlValue& file, uint64_t max_nodes, FabricShape& shape) {
  read_word_of(file, "address_plan", shape.address_plan);
  const auto read = [&](std::string_view key, int64_t min, UsidRole role) {
    return read_numbered(file, key, min, shape.address_plan,
                         [role](const UsidLayout& usids) { return usids.count(role); });
  };
  shape.planes = read_numbered(file, "planes", 1, shape.address_plan,
                               [](const UsidLayout& usids) { return usids.planes(); });
  shape.t0 = read("t0", 1, UsidRole::kT0);
  shape.t1 = read("t1", 0, UsidRole::kT1);
  shape.hosts_per_t0 = read("hosts_per_t0", 1, UsidRole::kNicPort);
  if (shape.t0 > 1 && shape.t1 == 0) {
    file.require("t1").fail_expecting("at least one T1: several T0s of a plane meet there");
  }
  const uint64_t nodes =
      uint64_t{shape.t0} * shape.hosts_per_t0 + uint64_t{shape.planes} * (shape.t0 + shape.t1);
  if (nodes > max_nodes) {
    file.require("planes").fail(std::to_string(nodes) + " nodes in all",
                                "at most " + std::to_string(max_nodes));
  }
}

void read_graph_shape(const YamlValue& file, FabricShape& shape) {
  for (const std::string_view key : {"planes", "t0", "t1", "hosts_per_t0", "address_plan"}) {
    if (file.get(key)) {
      file.fail_at_key(key, in_quotes(key), "switches, hosts and links, or regular planes");
    }
  }
  shape.graph = read_graph(file);
}

/// Builds the listed fabric, which shows whether there are paths between all hosts that carriers
/// can name.
void require_paths(const YamlValue& file, const FabricShape& shape) {
  try {
    build_topology(shape);
  } catch (const std::invalid_argument& error) {
    file.require("switches")
        .fail(error.what(),
              "paths between each two hosts, there and back alike, within what uSIDs and a carrier "
              "can name");
  }
}

void read_link_rates(const YamlValue& list, FabricShape& shape) {
  const size_t most = fabric_form().at("link_rates").most;
  for (const YamlValue& entry : list.items()) {
    if (shape.link_rates.size() == most) {
      entry.fail("more entries", "at most " + std::to_string(most));
    }
    shape.link_rates.push_back(
        {entry.require("links").as_string(), entry.require("rate").as_rate()});
  }
}

/// Builds the fabric, whose names stand in the graph alone.
void require_rated_links(const YamlValue& list, FabricShape shape) {
  shape.link_rates.clear();
  const Topology topology = build_topology(shape);
  NameResolver names(topology, 0);
  for (const YamlValue& entry : list.items()) names.links(entry.require("links"));
}

void read_wires(const YamlValue& file, FabricShape& shape) {
  if (const auto value = file.get("host_rate")) shape.host_rate = value->as_rate();
  shape.fabric_rate = shape.host_rate;
  if (const auto value = file.get("fabric_rate")) shape.fabric_rate = value->as_rate();
  read_way_time(file, "propagation", shape.propagation);
  read_way_time(file, "switch_latency", shape.switch_latency);
  read_way_time(file, "host_latency", shape.host_latency);
  if (const auto pmtu = file.get("pmtu")) {
    shape.pmtu = static_cast<uint32_t>(read_integer(*pmtu, fabric_form().at("pmtu")));
  }
  if (const auto optics = file.get("optics")) {
    if (optics->is_scalar()) {
      if (optics->as_string() != "off") optics->fail_expecting("off or {t0_downlinks: 4}");
      shape.links_per_optic = 0;
    } else {
      const ValueForm& links = fabric_form().at("optics").at("t0_downlinks");
      shape.links_per_optic =
          static_cast<uint32_t>(read_integer(optics->require("t0_downlinks"), links));
    }
  }
}

/// A wire must give its frames a lookahead of more than the time on the wire itself, or the lab
/// would have to move in steps of nanoseconds.
void require_lookahead(const YamlValue& file, const FabricShape& shape) {
  if (shape.propagation > FabricTime::zero()) return;
  for (const auto& [key, latency] : {std::pair{"switch_latency", shape.switch_latency},
                                     std::pair{"host_latency", shape.host_latency}}) {
    if (latency > FabricTime::zero()) continue;
    const auto at = file.get(key) ? file.get(key) : file.get("propagation");
    (at ? *at : file)
        .fail("no propagation and no " + std::string(key),
              "one of them above 0: a frame needs a lookahead");
  }
}

void read_queues(const YamlValue& file, QueueShape& queues) {
  if (const auto ecn = file.get("ecn"); ecn && ecn->is_map()) {
    read_multiple(*ecn, "min", queues.ecn_min);
    read_multiple(*ecn, "max", queues.ecn_max);
    if (queues.ecn_min >= queues.ecn_max) ecn->fail("min at or above max", "min below max");
  } else if (ecn) {
    queues.ecn = ecn->as_bool();
  }
  if (const auto trim = file.get("trim"); trim && trim->is_map()) {
    read_multiple(*trim, "threshold", queues.trim_threshold);
    read_multiple(*trim, "last_hop", queues.trim_threshold_last_hop);
  } else if (trim) {
    queues.trim = trim->as_bool();
  }
  if (const auto limits = file.get("queues")) {
    read_multiple(*limits, "control", queues.control_limit);
    read_multiple(*limits, "trimmed", queues.trimmed_limit);
    read_multiple(*limits, "tail_drop", queues.tail_drop);
  }
}

void read_roce(const YamlValue& roce, QueueShape& queues, LosslessProfile& lossless) {
  if (const auto pfc = roce.get("pfc")) lossless.pfc = pfc->as_bool();
  if (const auto adaptive = roce.get("adaptive_routing")) lossless.adaptive = adaptive->as_bool();
  if (const auto red = roce.get("red")) {
    read_multiple(*red, "min", queues.red_min);
    read_multiple(*red, "max", queues.red_max);
    if (const auto most = red->get("most")) lossless.red_most = most->as_probability();
    if (queues.red_min >= queues.red_max) red->fail("min at or above max", "min below max");
  }
  read_multiple(roce, "tail_drop", queues.lossless_limit);
  read_multiple(roce, "buffer", queues.buffer_share);
  read_multiple(roce, "alpha", lossless.alpha_permille);
  if (const auto watchdog = roce.get("watchdog")) read_watchdog(*watchdog, lossless);
}

DscpMap read_dscps(const YamlValue& value) {
  const ValueForm& form = fabric_form().at("dscp");
  DscpMap dscps;
  for (const DscpClass& each : kDscpClasses) {
    const auto found = value.get(each.name);
    if (found) dscps.*each.member = static_cast<uint8_t>(read_integer(*found, form.at(each.name)));
  }
  if (const auto misfit = misfit_of(dscps)) value.fail(*misfit, "classes with distinct values");
  return dscps;
}

/// A duration, or a list of the shortest and the longest.
void read_range(const YamlValue& map, std::string_view key, NicProfile::Range& out) {
  const auto value = map.get(key);
  if (!value) return;
  if (value->is_scalar()) {
    out.min = out.max = value->as_time();
    return;
  }
  const std::vector<YamlValue> ends = value->items();
  if (ends.size() != 2) value->fail_expecting("a duration, or the shortest and the longest");
  out = {ends[0].as_time(), ends[1].as_time()};
  if (out.min > out.max) ends[1].fail_expecting("at least the shortest");
}

NicProfile read_nic(const YamlValue& value) {
  const ValueForm& form = fabric_form().at("nic");
  if (value.is_scalar()) {
    return read_word(value, form.at("profile")) == 0 ? NicProfile{} : cx8_profile(1);
  }
  if (const auto profile = value.get("profile")) {
    value.only_keys({"profile", "compress"});
    const bool cx8 = read_word(*profile, form.at("profile")) == 1;
    const auto compress = value.get("compress");
    const auto by =
        static_cast<uint32_t>(compress ? read_integer(*compress, form.at("compress")) : 1);
    return cx8 ? cx8_profile(by) : NicProfile{};
  }
  NicProfile nic;
  value.only_keys({"name", "port_down_delay", "port_up_delay", "remap_down", "remap_up"});
  nic.name = value.require("name").as_name();
  read_time(value, "port_down_delay", nic.port_down_delay);
  read_time(value, "port_up_delay", nic.port_up_delay);
  read_range(value, "remap_down", nic.remap_down);
  read_range(value, "remap_up", nic.remap_up);
  return nic;
}

}  // namespace

void read_watchdog(const YamlValue& watchdog, LosslessProfile& lossless) {
  if (watchdog.is_scalar()) {
    if (watchdog.as_bool()) watchdog.fail_expecting("off or {detect: 200us, restore: 200us}");
    lossless.watchdog = WatchdogAction::kOff;
    return;
  }
  const ValueForm form = watchdog_form();
  check_form(watchdog, form);
  lossless.watchdog = WatchdogAction::kDrop;
  lossless.detect = watchdog.require("detect").as_time();
  lossless.restore = watchdog.require("restore").as_time();
  for (const auto& [key, time] :
       {std::pair{"detect", lossless.detect}, std::pair{"restore", lossless.restore}}) {
    if (time == FabricTime::zero()) watchdog.require(key).fail_expecting("a duration above 0");
  }
  if (const auto action = watchdog.get("action")) {
    lossless.watchdog = read_word(*action, form.at("action")) == 0 ? WatchdogAction::kDrop
                                                                   : WatchdogAction::kForward;
  }
}

FabricShape parse_fabric(const YamlValue& document, uint64_t max_nodes) {
  check_form(document, fabric_form());
  FabricShape shape;
  shape.name = document.require("name").as_name();
  if (lists_switches(document)) {
    read_graph_shape(document, shape);
  } else {
    read_shape(document, max_nodes, shape);
  }
  read_word_of(document, "decap", shape.decap);
  read_word_of(document, "segments", shape.segments);
  read_wires(document, shape);
  if (const auto list = document.get("link_rates")) read_link_rates(*list, shape);
  require_lookahead(document, shape);
  read_queues(document, shape.queues);
  if (const auto value = document.get("dscp")) shape.dscps = read_dscps(*value);
  if (const auto value = document.get("forwarding")) {
    shape.forwarding = read_forwarding(*value, shape);
  }
  if (const auto value = document.get("routing")) shape.routing = read_routing(*value);
  if (const auto value = document.get("speaker")) read_speaker(*value, shape);
  read_word_of(document, "wires", shape.wires);
  if (const auto value = document.get("roce")) read_roce(*value, shape.queues, shape.lossless);
  if (const auto value = document.get("nic")) shape.nic = read_nic(*value);
  if (const auto misfit = forwarding_misfit(shape)) {
    document.require(misfit->key).fail(misfit->found, misfit->expected);
  }
  if (!shape.graph.empty()) {
    check_ways(document, shape);
    require_paths(document, shape);
  } else if (!has_room(shape)) {  // each number by itself has been looked at
    document.require("segments")
        .fail_expecting("node: a switch has more links than uSIDs for them");
  }
  if (const auto list = document.get("link_rates")) require_rated_links(*list, shape);
  return shape;
}

Topology read_fabric_file(const std::filesystem::path& path) {
  const FabricShape shape = parse_fabric(read_yaml_file(path));
  Topology topology = build_topology(shape);
  check_lookahead(topology);
  return topology;
}

void check_lookahead(const Topology& topology) {
  for (const Wire& wire : topology.wires_list) {
    if (topology.lookahead(wire.id) > FabricTime::zero()) continue;
    throw InputError("fabric " + topology.name + ": found no lookahead on the wire " +
                     topology.wire_name(wire.id) +
                     ": expected a propagation or an ingress latency above 0");
  }
}

}  // namespace mrclab
