// What the page shows beside packets: the whole time line before it was played, who waits for whom, one port over time,
// the sums of a span, whose port a host reports.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "scenario/spec/scenario.h"
#include "session/looks/event_text.h"
#include "session/looks/waits_look.h"
#include "session/page_messages.h"
#include "session/session_commands.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

Scenario shipped_incident(const std::string& name) {
  return load_scenario(MRCLAB_SOURCE_DIR "/topologies/incidents/" + name + ".yaml");
}

json asked(PlayedSession& played, const json& command) {
  return answer_command(played, command, {}).text;
}

}  // namespace

TEST_CASE("the whole time line is known before it is played, and is that of the history") {
  FabricSession session(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
  const size_t before = session.known().complete_bins();
  CHECK(before < session.known().bins());
  CHECK_FALSE(session.survey());
  CHECK(session.known().complete_bins() == session.known().bins());
  CHECK(session.at() == FabricTime::zero());
  CHECK(session.branch().reached() <
        session.end());  // what hosts answer is of the instant that is shown
  const Recording& surveyed = session.known();
  std::vector<std::vector<Recording::PlaneSums>> sums;
  for (size_t bin = 0; bin < surveyed.bins(); ++bin)
    sums.emplace_back(surveyed.planes(bin).begin(), surveyed.planes(bin).end());
  session.seek(session.end());
  const Recording& played = session.branch().recording();
  for (size_t bin = 0; bin < played.bins(); ++bin)
    CHECK(std::equal(sums[bin].begin(), sums[bin].end(), played.planes(bin).begin()));
}

TEST_CASE("a change makes the time line anew") {
  FabricSession session(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
  session.survey();
  session.break_it({"wire_loss", {{"link", "p0.t0-0:u0"}, {"loss", "100%"}, {"for", "30us"}}, {}});
  CHECK(session.known().complete_bins() < session.known().bins());
  session.survey();
  CHECK(session.known().complete_bins() == session.known().bins());
}

TEST_CASE("at 331 us of the demo three hosts wait for packets of h0 that were lost") {
  PlayedSession played(shipped_incident("optic-glitch"));
  played.session().seek(FabricTime::from_us(331));
  played.session().look_ahead(FabricTime::from_us(400));
  const json answer = asked(played, {{"do", "waits"}, {"at_ps", FabricTime::from_us(331).ps()}});
  std::map<uint32_t, json> idle;
  for (const json& host : answer.at("hosts")) {
    if (host.at("reason") != "busy") idle[host.at("host")] = host;
  }
  REQUIRE(idle.contains(1));
  CHECK(idle.at(1).at("reason") == "retransmission");
  CHECK(idle.at(1).at("chain") == json{0});
  REQUIRE(idle.contains(2));
  CHECK(idle.at(2).at("chain") == json{1, 0});
  CHECK(idle.at(2).at("text").get<std::string>().find("lost at p0.t0-0:d0") != std::string::npos);
  CHECK(idle.at(2).at("share").get<double>() < 0.05);
}

TEST_CASE("a port over time has what its wires carried, and a span the sums of its bins") {
  PlayedSession played(shipped_incident("optic-glitch"));
  played.session().seek(FabricTime::from_us(340));
  const Topology& topology = played.session().scenario().topology;
  const PortRef port = *topology.find_port("p0.t0-0:d0");
  const json series =
      asked(played, {{"do", "series"}, {"node", port.node.value}, {"port", port.port.value}});
  const size_t bins = series.at("bins");
  CHECK(series.at("out").at("used").size() == bins);
  uint64_t lost = 0, of_plane = 0;
  for (const char* way : {"out", "in"})
    for (const json& n : series.at(way).at("lost")) lost += n.get<uint64_t>();
  CHECK(lost > 0);
  const Recording& recording = played.session().known();
  for (size_t bin = 0; bin < bins; ++bin) of_plane += recording.planes(bin)[0].lost;
  CHECK(lost <= of_plane);
  const json span = asked(played, {{"do", "span"},
                                   {"from_ps", FabricTime::from_us(290).ps()},
                                   {"to_ps", FabricTime::from_us(330).ps()}});
  CHECK(span.at("lost").get<uint64_t>() >= lost);
  CHECK(span.at("received_bytes").get<uint64_t>() > 1'000'000);
  CHECK_THROWS_AS(asked(played, {{"do", "series"}, {"node", port.node.value}, {"port", 999}}),
                  InputError);
}

TEST_CASE("a port that is down is said to be whose it is") {
  const Scenario scenario = shipped_incident("optic-glitch");
  const std::vector<PeerOf> peers = peers_of(scenario);
  const auto of_h1_with_h0 = std::find_if(
      peers.begin(), peers.end(), [](const PeerOf& p) { return p.host == 1 && p.peer == 0; });
  REQUIRE(of_h1_with_h0 != peers.end());
  SeenEvent event;
  event.node = scenario.topology.host(1);
  event.kind = "ev_state";
  event.cause = "port_down";
  event.port = PortId{0};
  event.qp = of_h1_with_h0->qp;
  event.detail = "remote";
  CHECK(event_text(scenario.topology, peers, event) == "h1: port p0 of h0 is down, as h0 reported");
  event.detail = "local";
  CHECK(event_text(scenario.topology, peers, event) == "h1: its own port p0 is down");
}

TEST_CASE("a link that is slower than others of its kind is marked as one") {
  const FabricSession session(shipped_incident("fare-two-speeds"));
  size_t slow = 0;
  const json welcome = welcome_of(session);
  uint64_t most = 0;
  for (const json& link : welcome.at("links"))
    most = std::max(most, link.at("rate").get<uint64_t>());
  for (const json& link : welcome.at("links")) {
    slow += link.at("slow").get<bool>();
    if (link.at("slow").get<bool>()) CHECK(link.at("rate").get<uint64_t>() < most);
  }
  CHECK(slow > 0);
  const FabricSession even(shipped_incident("optic-glitch"));
  for (const json& link : welcome_of(even).at("links")) CHECK_FALSE(link.at("slow").get<bool>());
}

}  // namespace mrclab::lab
