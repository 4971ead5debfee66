// Configuration of real switches against the plan, and against what the lab's own switch does.

#include "live/translate/switch_files.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "scenario/spec/shipped_files.h"
#include "switchd/forwarding_table.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

using Json = nlohmann::json;

std::string text_of_file(const SwitchFiles& files, const std::string& path) {
  for (const LabFile& file : files.files) {
    if (file.path == path) return file.text;
  }
  return {};
}

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '.', '-');
  return name;
}

uint16_t usid_in(const std::string& prefix) {
  CHECK(prefix.starts_with("5f00:0:"));
  CHECK(prefix.ends_with("::/48"));
  return static_cast<uint16_t>(std::stoul(prefix.substr(7), nullptr, 16));
}

/// Routes of a configuration by uSID, as ports of the switch.
using UsidRoutes = std::map<uint16_t, uint32_t>;

UsidRoutes routes_of_lab(const Topology& topology, NodeId node) {
  UsidRoutes routes;
  const switchd::ForwardingTable table(topology, node);
  for (const auto& [usid, port] : table.routes()) {
    if (!table.is_adjacency(usid)) routes[usid.value] = port.value;
  }
  return routes;
}

UsidRoutes routes_of_sonic(const Json& config) {
  UsidRoutes routes;
  for (const auto& [key, route] : config.at("STATIC_ROUTE").items()) {
    const std::string prefix = key.substr(key.find('|') + 1);
    if (prefix == "5f00::/32") {
      CHECK(route.at("blackhole") == "true");
    } else if (prefix.starts_with("5f00:")) {
      routes[usid_in(prefix)] =
          static_cast<uint32_t>(std::stoul(route.at("ifname").get<std::string>().substr(8))) / 4;
    }
  }
  return routes;
}

/// Lines "ipv6 route PREFIX ..."; `at` is the word of the interface, whose number begins with `first`.
UsidRoutes routes_of_lines(const std::string& text, size_t at, uint32_t first) {
  UsidRoutes routes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("ipv6 route 5f00:0:")) continue;
    std::istringstream words(line);
    std::vector<std::string> word{std::istream_iterator<std::string>(words), {}};
    const std::string& port = word.at(at);
    routes[usid_in(word[2])] =
        static_cast<uint32_t>(std::stoul(port.substr(port.find_first_of("0123456789")))) - first;
  }
  return routes;
}

}  // namespace

TEST_CASE("every planned link is in DEVICE_NEIGHBOR once at each end, also of a miscabled fabric") {
  FabricShape shape = parse_fabric(read_yaml_file(find_fabric("octet")));
  const Topology topology = build_topology(shape);
  shape.miscabled = {{"p0.t0-0:u0", "p0.t0-0:u1"}};
  const SwitchFiles files = switch_files(SwitchSystem::kSonic, shape, "");
  CHECK(files.files.size() == 48);
  std::multiset<std::pair<std::string, std::string>> ends;
  for (const NodeSite& site : topology.nodes) {
    if (site.role == NodeRole::kHost) continue;
    const Json config = Json::parse(text_of_file(files, dashed(site.name) + ".config_db.json"));
    CHECK(config.at("DEVICE_NEIGHBOR").size() == site.ports.size());
    CHECK(config.at("PORT").size() == site.ports.size());
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const Json& entry = config.at("DEVICE_NEIGHBOR").at("Ethernet" + std::to_string(4 * i));
      const PortRef peer = site.ports[i].peer;
      const bool host = topology.node(peer.node).role == NodeRole::kHost;
      CHECK(entry.at("name") == dashed(topology.node(peer.node).name));
      CHECK(entry.at("port") ==
            (host ? topology.port(peer).name() : "Ethernet" + std::to_string(4 * peer.port.value)));
    }
  }
}

TEST_CASE("uSIDs, uA and routes of each exported file are those of the lab's own switch") {
  for (const char* name : {"octet", "pair", "ai-backend"}) {
    CAPTURE(name);
    FabricShape shape = parse_fabric(read_yaml_file(find_fabric(name)));
    for (const Segments segments : {Segments::kNode, Segments::kAdjacency}) {
      shape.segments = segments;
      const Topology topology = build_topology(shape);
      const SwitchFiles sonic = switch_files(SwitchSystem::kSonic, shape, "");
      const SwitchFiles frr = switch_files(SwitchSystem::kFrr, shape, "");
      const SwitchFiles eos = switch_files(SwitchSystem::kEos, shape, "");
      for (const NodeSite& site : topology.nodes) {
        if (site.role == NodeRole::kHost) continue;
        CAPTURE(site.name);
        const std::string file = dashed(site.name);
        const Json config = Json::parse(text_of_file(sonic, file + ".config_db.json"));
        const UsidRoutes planned = routes_of_lab(topology, site.id);
        CHECK(routes_of_sonic(config) == planned);
        CHECK(routes_of_lines(text_of_file(frr, file + ".frr.conf"), 4, 1) == planned);
        CHECK(routes_of_lines(text_of_file(eos, file + ".eos.conf"), 3, 1) == planned);
        const switchd::ForwardingTable table(topology, site.id);
        size_t links = 0;
        for (const auto& [key, sid] : config.at("SRV6_MY_SIDS").items()) {
          const uint16_t usid = usid_in(key.substr(key.find('|') + 1));
          if (sid.at("action") == "uN") {
            CHECK(usid == table.own().value);
            CHECK(config.at("SRV6_MY_LOCATORS").at("mrclab").at("prefix").get<std::string>() +
                      "/48" ==
                  key.substr(key.find('|') + 1));
            continue;
          }
          ++links;
          CHECK(table.is_adjacency(Usid{usid}));
          CHECK("Ethernet" + std::to_string(4 * table.next_hop(Usid{usid})->value) ==
                sid.at("interface"));
        }
        size_t planned_links = 0;
        for (const auto& [usid, port] : table.routes()) planned_links += table.is_adjacency(usid);
        CHECK(links == planned_links);
      }
    }
  }
}

TEST_CASE("each file says what was verified and what is from documents") {
  const FabricShape shape = parse_fabric(read_yaml_file(find_fabric("pair")));
  for (const SwitchSystem system : {SwitchSystem::kFrr, SwitchSystem::kEos}) {
    const SwitchFiles one = switch_files(system, shape, "p0.t0-0");
    REQUIRE(one.files.size() == 1);
    CHECK(one.files[0].text.starts_with("! "));
    CHECK(test::mentions(one.files[0].text, "\n! Verified: "));
    CHECK(test::mentions(one.files[0].text, "\n! From documents"));
  }
  CHECK(test::mentions(switch_files(SwitchSystem::kSonic, shape, "").notes, "Verified: "));
  CHECK(test::error_of([&] { switch_files(SwitchSystem::kSonic, shape, "p9.t0-0"); }) ==
        "--switch: found \"p9.t0-0\": expected a switch of the fabric, such as p1.t1-0");
}
