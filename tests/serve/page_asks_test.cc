// What a page asks in place of working it out: kinds of packets, links of a path, faults for what is chosen.

#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <tuple>

#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/path.h"
#include "scenario/spec/scenario.h"
#include "session/looks/path_use.h"
#include "session/page_messages.h"
#include "session/session_commands.h"
#include "session/simulated_branch.h"
#include "tests/support/fabrics.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

SeenPacket packet_of(Opcode opcode) {
  SeenPacket packet;
  packet.qp = Qpn{18};
  packet.opcode = static_cast<uint8_t>(opcode);
  return packet;
}

Scenario shipped(const std::string& name) {
  return load_scenario(MRCLAB_SOURCE_DIR "/topologies/incidents/" + name + ".yaml");
}

}  // namespace

TEST_CASE("a packet's kind is its opcode's, unless it was trimmed or is of no queue pair") {
  const std::map<std::string_view, PacketKind> kinds{{"sack", PacketKind::kSack},
                                                     {"acknowledge", PacketKind::kSack},
                                                     {"rc_acknowledge", PacketKind::kSack},
                                                     {"rc_atomic_acknowledge", PacketKind::kSack},
                                                     {"cnp", PacketKind::kSack},
                                                     {"nack", PacketKind::kNack},
                                                     {"probe_request", PacketKind::kProbe},
                                                     {"endpoint_request", PacketKind::kProbe},
                                                     {"endpoint_response", PacketKind::kProbe},
                                                     {"unknown", PacketKind::kOther}};
  for (int number = 0; number < 256; ++number) {
    const auto opcode = static_cast<Opcode>(number);
    const std::string_view name = name_of(opcode);
    CAPTURE(name);
    SeenPacket packet = packet_of(opcode);
    const auto found = kinds.find(name);
    const PacketKind kind = found == kinds.end() ? PacketKind::kData : found->second;
    CHECK(kind_of(packet) == kind);
    packet.flags = SeenPacket::kAgain;
    CHECK(kind_of(packet) == (kind == PacketKind::kData ? PacketKind::kAgain : kind));
    packet.queue = QueueClass::kTrimmed;
    CHECK(kind_of(packet) == PacketKind::kTrimmed);
    packet.queue = QueueClass::kData;
    packet.event = PacketEvent::kTrimmed;
    CHECK(kind_of(packet) == PacketKind::kTrimmed);
  }
  SeenPacket datagram = packet_of(Opcode::kSendFirst);
  datagram.qp = Qpn{0};
  CHECK(kind_of(datagram) == PacketKind::kOther);
}

TEST_CASE("a message of packets has the kind of each, and whether it is data or a datagram") {
  const Topology topology = build_topology(test::shape_of("quad", 2, 2, 2, 2));
  const FabricTime end = FabricTime::from_us(100);
  Recording recording(topology, end);
  SeenPacket again = packet_of(Opcode::kWriteMiddle), nack = packet_of(Opcode::kNack), datagram;
  again.flags = SeenPacket::kAgain;
  for (SeenPacket packet : {again, nack, datagram}) {
    packet.t = FabricTime::from_us(5);
    recording.add_departure(packet, {topology.host(2), PortId{1}}, Direction::kEgress, 0);
  }
  recording.complete(end);
  const std::string bytes = packets_message(recording, 1, 9, FabricTime::zero(), end);
  constexpr size_t kHead = 32, kEach = 40, kKind = 33, kFlags = 34;
  REQUIRE(bytes.size() == kHead + 3 * kEach);
  const auto byte = [&](size_t packet, size_t at) {
    return static_cast<uint8_t>(bytes[kHead + packet * kEach + at]);
  };
  CHECK(kPacketKindWords.at(byte(0, kKind)) == "again");
  CHECK(byte(0, kFlags) == (SeenPacket::kAgain | kDataFlag));
  CHECK(kPacketKindWords.at(byte(1, kKind)) == "nack");
  CHECK(byte(1, kFlags) == 0);
  CHECK(kPacketKindWords.at(byte(2, kKind)) == "other");
  CHECK(byte(2, kFlags) == kDatagramFlag);
}

TEST_CASE("the links of a path are those that its packets take, in every sort of fabric") {
  // Listed; regular planes; those whose T0s choose by a hash. All before anything fails.
  for (const std::string name : {"ai-backend-spine", "optic-glitch", "ecmp-rehash"}) {
    CAPTURE(name);
    SimulatedBranch branch(shipped(name));
    const Topology& topology = branch.topology();
    branch.reach(FabricTime::from_us(40));
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, std::set<uint32_t>> taken;
    const Recording& recording = branch.recording();
    for (size_t bin = 0; bin < recording.complete_bins(); ++bin) {
      for (const SeenPacket& p : recording.packets(bin)) {
        if (p.qp.value == 0 || !carries_data(static_cast<Opcode>(p.opcode))) continue;
        taken[{p.source, p.destination, p.ev.value}].insert(topology.wire(p.wire).link.value);
      }
    }
    size_t whole = 0;
    for (const auto& [flow, links] : taken) {
      const auto path = path_of(EntropyValue{std::get<2>(flow)});
      REQUIRE(path);
      const auto told = links_of_path(topology, std::get<0>(flow), std::get<1>(flow), *path);
      const std::set<uint32_t> lit(told.begin(), told.end());
      CAPTURE(to_string(*path));
      for (const uint32_t link : links) CHECK(lit.contains(link));
      whole += lit == links ? 1 : 0;
    }
    CHECK(whole > 3);  // the last packets are still on their way
  }
}

TEST_CASE("a link is dark while nothing passes, and impaired where something may") {
  FabricSession session(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
  const std::map<std::string, bool> dark{
      {"link_down", true},  {"port_down", true},  {"optic_dead", true}, {"switch_crash", true},
      {"wire_loss", false}, {"blackhole", false}, {"delay", false},     {"bit_errors", false}};
  for (const auto& [kind, all] : dark) {
    const faults::FaultInfo& info = faults::info(*faults::find_fault(kind));
    for (const auto& parts :
         {faults::Choice{.links = {LinkId{0}}}, faults::Choice{.nodes = {NodeId{2}}},
          faults::Choice{.optics = {OpticId{0}}}}) {
      const auto target = faults::targets_for(info, parts, session.scenario().topology);
      if (!target) continue;
      FaultOrder order{kind, {target->begin(), target->end()}, {}};
      for (const auto& word : faults::usual_parameters(info)) order.body.insert(word);
      session.break_it(order);
      const json fault = branch_json(session).at("faults").back();
      REQUIRE(fault.at("kind") == kind);
      REQUIRE_FALSE(fault.at("impairments").empty());
      for (const json& hold : fault.at("impairments")) CHECK(hold.at("dark") == all);
      break;
    }
  }
}

TEST_CASE("a page that asks for parts that the fabric has not is refused") {
  PlayedSession played(load_scenario(MRCLAB_SOURCE_DIR "/docs/first.yaml"));
  const auto told = [&](const std::string& command) {
    try {
      return answer_command(played, json::parse(command), {}).text.dump();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
  };
  const auto kinds = [&](const std::string& links, const std::string& nodes) {
    return told(R"({"do": "kinds", "optics": [], "planes": [], "links": )" + links +
                R"(, "nodes": )" + nodes + "}");
  };
  CHECK(kinds("[999]", "[]").starts_with("links: found 999: the fabric has "));
  CHECK(kinds("[]", "[-1]").starts_with("nodes: found -1: "));
  CHECK(kinds("[]", "[]") == R"({"kinds":[],"say":"kinds"})");
  CHECK(
      kinds("[]", "[1]").starts_with(R"({"kinds":[{"name":"nic_dead","target":[["host","h1"]]},)"));
  const auto path = [&](const std::string& destination, const std::string& name) {
    return told(R"({"do": "path", "source": 0, "destination": )" + destination + R"(, "path": ")" +
                name + "\"}");
  };
  CHECK(path("9", "p0/u0") == "there is no such host");
  CHECK(path("1", "u0") == "found the path \"u0\", which is none");
  CHECK(path("1", "p1/u7") == R"({"links":[],"say":"path"})");
  const json lit = json::parse(path("1", "p1/u0"));
  CHECK(lit.at("links").size() == 4);
}

}  // namespace mrclab::lab
