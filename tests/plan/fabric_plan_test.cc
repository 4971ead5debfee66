// The output of `plan`: the MRC paper's numbers out of arithmetic, and for fabrics that can be built the
// same as their graphs.

#include "plan/fabric_plan.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "live/bringup/node_plan.h"
#include "live/inspect/describe.h"
#include "plan/fabric_plan_text.h"
#include "plan/node_addresses.h"
#include "scenario/spec/shipped_files.h"
#include "switchd/forwarding_table.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/errors.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

std::string refusal(const PlanRequest& request) {
  const BitRate switches =
      request.radix == 0 ? kSwitchCapacity : BitRate{request.radix * request.port_rate.bps};
  return test::error_of([&] { plan_fabric(shape_of(request), switches); });
}

size_t count_of(const Topology& topology, NodeRole role) {
  return static_cast<size_t>(std::count_if(topology.nodes.begin(), topology.nodes.end(),
                                           [role](const NodeSite& s) { return s.role == role; }));
}

/// All shipped fabrics, and one in the full layout.
std::vector<FabricShape> buildable() {
  std::vector<FabricShape> shapes;
  for (const char* name : {"octet", "hall", "pair", "pair-kernel"}) {
    shapes.push_back(parse_fabric(read_yaml_file(lab::find_fabric(name))));
  }
  FabricShape full = shapes.front();
  full.address_plan = AddressPlan::kFull;
  full.links_per_optic = 3;
  shapes.push_back(full);
  FabricShape row = shapes.front();
  row.t0 = 1;
  row.t1 = 0;
  shapes.push_back(row);
  return shapes;
}

CommandResult plan(std::vector<std::string> words) {
  words.insert(words.begin(), {program("mrclab-cli"), "plan"});
  return run_command_line(words);
}

TEST_CASE("the paper's fabric: 131,072 hosts need 4,096 T0s and 2,048 T1s over 8 planes") {
  const FabricPlan p = plan_fabric(shape_of(PlanRequest{}));
  CHECK(p.hosts == 131'072);
  CHECK(p.t0 == 4'096);
  CHECK(p.t1 == 2'048);
  CHECK(p.shape.t0 == 512);
  CHECK(p.shape.hosts_per_t0 == 256);
  CHECK(p.shape.t1 == 256);
  CHECK(p.t0_ports == 512);
  CHECK(p.t1_ports == 512);
  CHECK(p.nic_links == 1'048'576);
  CHECK(p.fabric_links == 1'048'576);
  CHECK(p.tiers == 2);
  CHECK(p.longest_path == 3);
  CHECK(p.nic_rate == BitRate::from_gbps(800));
  CHECK(p.oversubscription == Ratio{1, 1});
  CHECK(p.bisection_bps == 131'072 / 2 * uint64_t{800'000'000'000});
  CHECK(p.transceivers.total() == 4 * 131'072);  // NIC, T0 down, T0 up, T1: 800 Gb/s each
  CHECK(p.evs_per_pair == 2'048);
  CHECK(p.evs_in_row == 8);
  CHECK(p.t0_routes.total() == 1 + 256 + 256 + 256);
  CHECK(p.t1_routes.total() == 1 + 512);
  CHECK(p.t0_routes.by_destination == 131'072);
  CHECK(p.t0_routes.by_destination_aggregated == 257);
  CHECK(p.outline.usids.name() == "full");
  REQUIRE(p.ev_sets.size() == 4);
  CHECK(p.ev_sets.back().size == 256);
  CHECK(p.ev_sets.back().per_plane == 32);
  CHECK(p.ev_sets.back().of_all == Ratio{1, 8});
}

TEST_CASE("against one plane of three tiers: 2/3 of the transceivers, 3/5 of the switches") {
  const FabricPlan p = plan_fabric(shape_of(PlanRequest{}));
  REQUIRE(p.comparison);
  const DesignComparison& c = *p.comparison;
  CHECK(c.plane.hosts() == 131'072);
  CHECK(c.planes * c.plane.switches() == p.switches());
  CHECK(c.planes * c.plane.links() == p.links());
  CHECK(c.single.hosts() == 64 * 32 * 32);  // pods, T0s of a pod, NICs of a T0
  CHECK(c.single.hosts() == 65'536);
  CHECK(c.single.switches() == 5'120);
  CHECK(c.switches == Ratio{3, 5});
  CHECK(c.transceivers == Ratio{2, 3});
  CHECK(c.plane.longest_path() == 3);
  CHECK(c.single.longest_path() == 5);
  CHECK(c.larger.longest_path() == 7);  // as many hosts on a single plane
  CHECK(c.plane.one_hop() == 256);
  CHECK(c.single.one_hop() == 32);
  CHECK(c.plane.uplink_loss().percent() == doctest::Approx(0.39).epsilon(0.01));
  CHECK(c.single.uplink_loss().percent() == doctest::Approx(3.1).epsilon(0.01));
  CHECK(Ratio::of(1, c.planes).percent() == doctest::Approx(12.5));
}

TEST_CASE("what is planned is what is built, for every fabric that can be built") {
  for (const FabricShape& shape : buildable()) {
    const FabricPlan p = plan_fabric(shape);
    const Topology t = build_topology(shape);
    CAPTURE(t.name);
    CHECK(p.hosts == count_of(t, NodeRole::kHost));
    CHECK(p.t0 == count_of(t, NodeRole::kT0));
    CHECK(p.t1 == count_of(t, NodeRole::kT1));
    CHECK(p.links() == t.links.size());
    CHECK(p.transceivers.t0_down == t.optics.size());
    CHECK(p.outline.base_rtt == t.base_rtt);
    CHECK(p.t0_ports == t.node(t.t0(0, 0)).ports.size());
    const switchd::ForwardingTable t0(t, t.t0(0, 0));
    CHECK(p.t0_routes.total() == t0.size() + 1);  // its own uSID is no route there
    if (p.t1 > 0) {
      CHECK(p.t1_ports == t.node(t.t1(0, 0)).ports.size());
      CHECK(p.t1_routes.total() == switchd::ForwardingTable(t, t.t1(0, 0)).size() + 1);
    }
    if (p.tiers == 2) {
      CHECK(p.evs_per_pair == describe_paths(t, 0, t.host_count() - 1).size());
    }
    if (t.hosts_per_t0 > 1) CHECK(p.evs_in_row == describe_paths(t, 0, 1).size());
  }
}

TEST_CASE("the address plan of a switch names the ports and neighbours that its packets take") {
  for (const FabricShape& shape : buildable()) {
    const Topology outline = outline_topology(shape);
    const Topology t = build_topology(shape);
    CAPTURE(t.name);
    for (const NodeSite& site : t.nodes) {
      const std::vector<AddressRow> rows = node_addresses(outline, site.name);
      if (site.role == NodeRole::kHost) {
        CHECK(rows.front().prefix == host_address(t, site.index));
        continue;
      }
      const switchd::ForwardingTable table(t, site.id);
      CHECK(rows.size() == table.size() + 1);
      CHECK(active_usid(rows.front().prefix) == table.own());
      for (size_t i = 1; i < rows.size(); ++i) {
        const auto port = table.next_hop(active_usid(rows[i].prefix));
        REQUIRE(port);
        const Port& real = site.ports[port->value];
        CHECK(rows[i].port == real.name());
        CHECK(rows[i].to == t.port_name(real.peer));
        CHECK(rows[i].mac == real.mac);
        CHECK(rows[i].peer_mac == t.port(real.peer).mac);
      }
    }
  }
}

TEST_CASE("the address plan of a host is what its kernel and its NIC are given") {
  for (const FabricShape& shape : buildable()) {
    const Topology t = build_topology(shape);
    const NodePlan kernel = plan_node(t, t.host(0));
    const std::vector<AddressRow> rows = node_addresses(outline_topology(shape), "h0");
    CHECK(rows.size() == 1 + 3 * size_t{t.planes});
    for (uint32_t plane = 0; plane < t.planes; ++plane) {
      const std::vector<netio::Route>& routes = kernel.ports[plane].routes;
      CHECK(rows[1 + 3 * plane].prefix == routes[0].destination.address);
      CHECK(rows[1 + 3 * plane].bits == routes[0].destination.length);
      CHECK(rows[1 + 3 * plane].peer_mac == kernel.ports[plane].peer_mac);
      CHECK(rows[3 + 3 * plane].prefix == routes.back().destination.address);
    }
  }
}

TEST_CASE("what cannot be built is refused with what would be right") {
  struct Row {
    const char* what;
    PlanRequest request;
    const char* expected;
  };
  PlanRequest r;
  const std::vector<Row> rows{
      {"too many hosts",
       [&] {
         auto q = r;
         q.hosts = 131'328;
         return q;
       }(),
       "found 131328 hosts: expected 1 to 131072, as 256 hosts per T0 and T1s with 512 ports "
       "allow"},
      {"a T0 that is not full",
       [&] {
         auto q = r;
         q.hosts = 1'000;
         return q;
       }(),
       "found 1000 hosts, which do not fill T0s of 256: expected 768 or 1024"},
      {"an odd radix",
       [&] {
         auto q = r;
         q.radix = 63;
         return q;
       }(),
       "found a radix of 63: expected an even number from 2 to 4096"},
      {"too many planes for so many T0s",
       [&] {
         auto q = r;
         q.planes = 16;
         return q;
       }(),
       "found 16 planes of 512 T0s with 256 hosts and of 256 T1s: expected at most 16 "
       "planes of 256 T0s with 256 hosts and of 256 T1s (address plan lab), or at most 8 "
       "planes of 512 T0s with 256 hosts and of 256 T1s (address plan full)"},
      {"more ports than a switch has",
       [&] {
         auto q = r;
         q.hosts = 64;
         q.radix = 16;
         q.hosts_per_t0 = 8;
         q.t1 = 12;
         return q;
       }(),
       "found 2000 Gb/s of ports at a T0 (8 down, 12 up): expected at most the 1600 Gb/s of one "
       "switch"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.what);
    CHECK(refusal(row.request) == row.expected);
  }
}

TEST_CASE("a narrower T0 uplink is oversubscription, and halves the bisection") {
  PlanRequest request;
  request.hosts = 8'192;
  request.t1 = 128;
  const FabricPlan p = plan_fabric(shape_of(request));
  CHECK(p.oversubscription == Ratio{2, 1});
  CHECK(p.bisection_bps == 8'192 / 2 * uint64_t{400'000'000'000});
  CHECK(p.outline.usids.name() == "lab");  // 32 T0s: the readable layout has room
}

TEST_CASE("the full layout carries traffic as the lab's does") {
  const fs::path folder =
      fs::temp_directory_path() / ("mrclab-layouts-" + std::to_string(::getpid()));
  fs::create_directory(folder);
  std::vector<nlohmann::json> outputs;
  for (const char* layout : {"lab", "full"}) {
    const fs::path file = folder / (std::string(layout) + ".yaml");
    std::ofstream(file) << "name: same\nplanes: 4\nt0: 2\nt1: 2\nhosts_per_t0: 2\naddress_plan: "
                        << layout << "\n";
    outputs.push_back(mrclab_json({"perf", "write_bw", file, "-n", "50", "--json"}));
  }
  fs::remove_all(folder);
  CHECK(outputs[0] == outputs[1]);
}

TEST_CASE("plan prints 80 columns, the same numbers as JSON, and addresses as CSV") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{}, {"octet"}, {"hall"}, {"--host", "70000"}}) {
    const CommandResult text = plan(words);
    CHECK(text.code == 0);
    std::istringstream lines(text.output);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 80);
    }
  }
  const auto answer = mrclab_json({"plan", "--json"});
  CHECK(answer["materials"]["switches"] == 6'144);
  CHECK(answer["comparison"]["switches"]["part"] == 3);
  CHECK(answer["entropy_values"]["across_t1"] == 2'048);
  const CommandResult csv = plan({"--node", "p2.t0-5", "--csv"});
  CHECK(std::count(csv.output.begin(), csv.output.end(), '\n') == 1 + 1 + 3 * 256);
  CHECK(csv.output.find("\np2.t0-5,u255,5f00:0:90ff::/48,via,p2.t1-255:d5,") != std::string::npos);
  CHECK(plan({"--host", "0", "--to", "131071", "--ev", "0x0007c0ff", "--csv"}).output ==
        "ev,path,carrier\n0x0007c0ff,p7/u255,5f00:0:7800:b8ff:79ff:f8ff::\n");
}

TEST_CASE("plan says in one sentence what it cannot make sense of, with exit code 2") {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"--hosts", "131073"},
                                             {"--hosts", "-1"},
                                             {"--planes", "17"},
                                             {"--radix", "511"},
                                             {"--port-rate", "fast"},
                                             {"octet", "--hosts", "8"},
                                             {"octet", "--radix", "4"},
                                             {"no-such-fabric"},
                                             {"--csv"},
                                             {"--node", "h131072"},
                                             {"--node", "p8.t0-0"},
                                             {"--node", "p0.t2-0"},
                                             {"--node", "p0.t0-01"},
                                             {"--node", "p0.t0-0:d1"},
                                             {"--host", "0", "--to", "0"},
                                             {"--host", "0", "--to", "131072"},
                                             {"--host", "0", "--to", "1", "--ev", "p0/u0"},
                                             {"--host", "0", "--to", "256", "--ev", "p0/u256"},
                                             {"--host", "0", "--to", "256", "--ev", "0xc000x"}}) {
    const CommandResult result = plan(words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
}

}  // namespace
}  // namespace mrclab::lab
