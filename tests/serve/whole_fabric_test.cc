// A fabric that is too large to be shown packet by packet: the racks that are followed are recorded as ever, and of the
// whole the counters of switches and hosts are summed up.

#include <doctest/doctest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "scenario/spec/scenario.h"
#include "session/fabric_message.h"
#include "session/looks/port_series.h"
#include "session/page_messages.h"
#include "session/recording/first_racks.h"
#include "session/recording/recording_watch.h"
#include "session/session_commands.h"
#include "session/simulated_branch.h"
#include "session/whole_messages.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr uint32_t kRack = 1;
constexpr size_t kHostsOfRack = 32, kPlanes = 8, kT1s = 32;  // of metro

/// Two racks of metro, which has 1,024 hosts, send to each other, and a T1 dies.
Scenario two_racks_of_metro(const std::string& follow = "follow: \"h[32-63]\"\n") {
  return parse_scenario(read_yaml_text(
      "name: two-racks\nabout: Two racks send to each other.\nfabric: metro\nseed: 1\n"
      "workload:\n  - permutation: {hosts: \"h[0-63]\", load: 60%, message: 64KiB, shift: 32}\n"
      "faults:\n  - {at: 4us, switch_reboot: {switch: p2.t1-3, down: 6us, reload: 2us}}\n"
      "end: 20us\npayload: elided\ncaptures: none\n" +
          follow + "expect: [safety]\n",
      "test"));
}

json reply_to(PlayedSession& played, const json& command) {
  return answer_command(played, command, {}).text;
}

using PacketPlace = std::tuple<int64_t, uint32_t, uint32_t, uint32_t, int>;
std::multiset<PacketPlace> places_on(const Recording& recording, const FollowedPart& part) {
  std::multiset<PacketPlace> places;
  for (size_t bin = 0; bin < recording.bins(); ++bin) {
    for (const SeenPacket& p : recording.packets(bin)) {
      if (part.number(p.wire) == FollowedPart::kOutside) continue;
      places.insert({p.t.ps(), p.wire.value, p.qp.value, p.psn.value(), static_cast<int>(p.event)});
    }
  }
  return places;
}

}  // namespace

TEST_CASE("a followed part numbers the rack's hosts, its T0s and the T1s next to them") {
  const Topology topology = two_racks_of_metro().topology;
  CHECK(is_summarised(topology));
  const FollowedPart part(topology, {kRack});
  REQUIRE(part.nodes() == kHostsOfRack + kPlanes + kPlanes * kT1s);
  REQUIRE(part.links() == kPlanes * (kHostsOfRack + kT1s));
  CHECK(part.wires() == 2 * part.links());
  CHECK(part.node(0) == topology.host(kRack * topology.hosts_per_t0));
  for (size_t i = 0; i < part.nodes(); ++i) {
    const NodeSite& site = topology.node(part.node(i));
    CHECK(part.number(site.id) == i);
    CHECK((part.look(site.id) == FollowedPart::Look::kAll) ==
          (rack_of(topology, site.id) == kRack));
  }
  for (size_t i = 0; i < part.wires(); ++i) CHECK(part.number(part.wire(i)) == i);
  CHECK(part.number(topology.host(0)) == FollowedPart::kOutside);
  CHECK(part.look(topology.host(0)) == FollowedPart::Look::kNothing);
  CHECK(first_racks(two_racks_of_metro()) == std::vector<uint32_t>{kRack});
  CHECK(first_racks(two_racks_of_metro("")) == std::vector<uint32_t>{0});
}

TEST_CASE("the packets of a followed rack are those that a recording of all has on its wires") {
  const Scenario scenario =
      playable(load_scenario(MRCLAB_SOURCE_DIR "/topologies/incidents/optic-glitch.yaml"));
  const FabricTime until = FabricTime::from_us(320);  // an optic is dark from 300 us on
  const FollowedPart rack(scenario.topology, {0});
  const auto recorded = [&](const FollowedPart& part) {
    auto recording = std::make_unique<Recording>(scenario.topology, scenario.stop(),
                                                 Recording::kMaxPackets, part);
    RecordingWatch watch(*recording, scenario.topology, scenario.stop());
    Simulation world(scenario, 1,
                     [&](NodeId node) -> NodeObserver& { return watch.observer(node); });
    world.run({}, until);
    recording->complete(until);
    if (part.whole()) {
      CHECK(watch.history_sha256().size() == 64);
    } else {
      CHECK_THROWS_AS(watch.history_sha256(), InputError);
    }
    return recording;
  };
  const auto all = recorded(FollowedPart(scenario.topology)), some = recorded(rack);
  const auto expected = places_on(*all, rack);
  CHECK(expected.size() > 1'000);
  CHECK(some->kept_packets() == expected.size());
  CHECK(places_on(*some, rack) == expected);
}

TEST_CASE("the sums of a whole fabric are what its hosts and switches have counted") {
  SimulatedBranch branch(two_racks_of_metro());
  branch.reach(branch.end());
  const FabricTally* tally = branch.tally();
  REQUIRE(tally != nullptr);
  REQUIRE(tally->windows() == branch.recording().bins());
  std::vector<FabricTally::PlaneCount> sums(kPlanes);
  uint64_t again = 0, of_cells = 0;
  for (size_t window = 0; window < tally->windows(); ++window) {
    again += tally->again(window);
    for (size_t plane = 0; plane < kPlanes; ++plane) {
      sums[plane].received += tally->planes(window)[plane].received;
      sums[plane].lost += tally->planes(window)[plane].lost;
    }
    for (const FabricTally::Cell& cell : tally->cells(window)) of_cells += cell.lost;
  }
  std::vector<uint64_t> received(kPlanes);
  uint64_t retransmitted = 0, lost = 0;
  for (uint32_t host = 0; host < branch.topology().host_count(); ++host) {
    const endpoint::HostStats stats = branch.account(host).stats;
    retransmitted += stats.retransmissions;
    for (size_t p = 0; p < kPlanes; ++p) received[p] += stats.planes[p].rx_payload_bytes;
  }
  for (size_t plane = 0; plane < kPlanes; ++plane) {
    CHECK(sums[plane].received > 0);
    CHECK(sums[plane].received == received[plane]);
    CHECK((sums[plane].lost > 0) == (plane == 2));  // whose T1 dies
    lost += sums[plane].lost;
  }
  CHECK(again == retransmitted);
  CHECK(of_cells == lost);
  const json span = span_sums(*tally, FabricTime::zero(), branch.end());
  CHECK(span.at("lost") == lost);
}

TEST_CASE("a page of a whole fabric is sent the part that is followed, and where faults are") {
  PlayedSession played(two_racks_of_metro());
  const json welcome = welcome_of(played.session());
  CHECK(welcome.at("whole").at("followed") == json{kRack});
  CHECK(welcome.at("whole").at("hosts") == 1024);
  CHECK(welcome.at("nodes").size() == kHostsOfRack + kPlanes + kPlanes * kT1s);
  CHECK(welcome.at("links").size() == kPlanes * (kHostsOfRack + kT1s));
  CHECK(welcome.at("queue_pairs").size() == 2 * kHostsOfRack);
  CHECK(welcome.at("nodes").dump().size() + welcome.at("links").dump().size() < 300'000);
  for (const json& tier : welcome.at("whole").at("tiers")) {
    const Topology& topology = played.session().scenario().topology;
    for (uint32_t plane = 0; plane < kPlanes; ++plane) {
      const NodeSite& first =
          topology.nodes[topology.host_count() + tier.at("first")[plane].get<size_t>()];
      CHECK(first.name ==
            "p" + std::to_string(plane) + "." + tier.at("role").get<std::string>() + "-0");
    }
  }
  const json fault = branch_json(played.session()).at("faults").at(0);
  REQUIRE(!fault.at("places").empty());
  const NodeId dead = *played.session().scenario().topology.find_node("p2.t1-3");
  CHECK(fault.at("places")[0].at("switches") ==
        json::array({json::array({dead.value - 1024, kT1s})}));
  // A page of a fabric that is shown packet by packet has none of it.
  FabricSession small(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
  CHECK(welcome_of(small).at("whole").is_null());
  CHECK(branch_json(small).at("faults").at(0).at("places").empty());
}

TEST_CASE("a message with the tally has each switch's cell at its place") {
  SimulatedBranch branch(two_racks_of_metro());
  branch.reach(FabricTime::from_us(6));
  const FabricTally& tally = *branch.tally();
  REQUIRE(tally.windows() == 6);
  const std::string bytes = tally_message(tally, branch.topology(), 7, 2, 6);
  REQUIRE(bytes.size() == 24 + 4 * (8 + 24 * kPlanes + 8 * tally.switches()));
  const size_t last = bytes.size() - 8 * tally.switches();
  for (size_t i = 0; i < tally.switches(); ++i) {
    FabricTally::Cell cell;
    std::memcpy(&cell, bytes.data() + last + 8 * i, sizeof cell);
    CHECK(cell == tally.cells(5)[i]);
  }
}

TEST_CASE(
    "a whole fabric has one world: a change begins it again, and it goes back to where it was") {
  PlayedSession played(two_racks_of_metro());
  FabricSession& session = played.session();
  CHECK(session.branch().reached() == FabricTime::zero());
  reply_to(played, {{"do", "seek"}, {"at_ps", 6'000'000}});
  CHECK(session.goal() == FabricTime::from_us(6));
  while (session.pursue({})) {
  }
  CHECK(session.at() == FabricTime::from_us(6));
  CHECK_FALSE(session.goal().has_value());
  const Branch* world = &session.branch();
  CHECK_THROWS_AS(session.break_it({"link_down", {{"link", "p0.t0-1:u2"}}, {}}, true), InputError);
  session.break_it({"link_down", {{"link", "p0.t0-1:u2"}}, {}});
  CHECK(&session.branch() == world);
  CHECK(session.goal() == FabricTime::from_us(6));
  while (session.pursue({})) {
  }
  CHECK(session.at() == FabricTime::from_us(6));
  const json broken = branch_json(session).at("faults").back();
  std::set<size_t> ends;  // both ends of the link
  for (const json& held : broken.at("places"))
    for (const json& place : held.at("switches")) ends.insert(place[0].get<size_t>());
  CHECK(ends.size() == 2);
  const SessionAnswer followed =
      answer_command(played, {{"do", "follow"}, {"racks", {1, 0, 1}}}, {});
  CHECK(followed.all_changed);
  CHECK(welcome_of(session).at("whole").at("followed") == json{0, 1});
  for (const json& racks : {json::array(), json{99}})
    CHECK_THROWS_AS(reply_to(played, {{"do", "follow"}, {"racks", racks}}), InputError);
  for (const char* refused : {"waits", "judge"})
    CHECK_THROWS_AS(reply_to(played, {{"do", refused}, {"at_ps", 0}}), InputError);
}

TEST_CASE("a rack and a switch of a whole fabric are looked at, whether followed or not") {
  PlayedSession played(two_racks_of_metro());
  played.session().seek(FabricTime::from_us(6));  // the T1 is dead, and has its counters
  const json rack = reply_to(played, {{"do", "rack"}, {"rack", 0}});
  CHECK_FALSE(rack.at("followed").get<bool>());
  CHECK(rack.at("hosts").size() == kHostsOfRack);
  CHECK(rack.at("hosts")[3][0].get<uint64_t>() > 0);
  CHECK(reply_to(played, {{"do", "rack"}, {"rack", kRack}}).at("followed").get<bool>());
  const json t1 = reply_to(played, {{"do", "switch"}, {"name", "p2.t1-3"}});
  CHECK(t1.at("counts").at("lost").get<uint64_t>() > 0);
  CHECK(t1.at("worst").at(0).at("lost").get<uint64_t>() > 0);
  for (const char* name : {"h3", "p9.t0-0", ""})
    CHECK_THROWS_AS(reply_to(played, {{"do", "switch"}, {"name", name}}), InputError);
  CHECK_THROWS_AS(reply_to(played, {{"do", "rack"}, {"rack", 32}}), InputError);
  // Nodes are numbered as in the part.
  const json series = reply_to(played, {{"do", "series"}, {"node", 0}, {"port", 3}});
  CHECK(series.at("port") == "h32:p3");
  // Packets of one host, and of the rack.
  const auto asked = [&](json more) {
    more.update({{"do", "packets"}, {"from_ps", 5'000'000}, {"to_ps", 6'000'000}, {"ticket", 1}});
    uint32_t count = 0;
    std::memcpy(&count, answer_command(played, more, {}).binary.data() + 12, sizeof count);
    return count;
  };
  CHECK(asked({{"host", 40}}) > 0);
  CHECK(asked({{"host", 40}}) < asked({{"rack", kRack}}));
  CHECK(asked({{"rack", 0}}) == 0);
}

}  // namespace mrclab::lab
