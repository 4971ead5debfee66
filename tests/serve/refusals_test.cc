// What a NIC refuses has arrived: the page counts it as no loss, and distinguishes the two.

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "fabric/packet/drop_kind.h"
#include "fabric/topology/build_topology.h"
#include "scenario/spec/scenario.h"
#include "session/fabric_session.h"
#include "session/page_messages.h"
#include "session/recording/recording.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::lab;

TEST_CASE("the page's sums count as lost what did not arrive, and not what a NIC refused") {
  const Topology topology = build_topology(test::shape_of("quad", 2, 2, 2, 2));
  const FabricTime end = FabricTime::from_us(100), t = FabricTime::from_us(5);
  for (size_t i = 1; i < kDropCauses; ++i) {
    SeenPacket packet;
    packet.t = t;
    packet.event = PacketEvent::kDropped;
    packet.qp = {18};  // a datagram of a burst has none, and is not counted
    packet.cause = static_cast<DropCause>(i);
    CAPTURE(name_of(packet.cause));
    Recording recording(topology, end);
    recording.add_departure(packet, {topology.host(2), PortId{1}}, Direction::kIngress, 0);
    recording.complete(end);
    const bool refused = drop_kind(packet.cause) == DropKind::kRefused;
    CHECK(recording.planes(recording.bin_of(t))[1].lost == (refused ? 0 : 1));
    CHECK(recording.packets(recording.bin_of(t)).size() == 1);
  }
}

TEST_CASE("the page is told which causes of drops are refusals") {
  const FabricSession session(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
  const nlohmann::json welcome = welcome_of(session);
  std::set<std::string> refusals;
  for (const auto& number : welcome.at("refusals")) {
    refusals.insert(welcome.at("causes").at(number.get<size_t>()).get<std::string>());
  }
  CHECK(refusals ==
        std::set<std::string>{"no_bitmap", "not_ready", "out_of_order", "receive_buffer_full"});
}
