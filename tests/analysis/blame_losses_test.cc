// Nobody is accused without a loss: what receivers refuse, what queues drop and what waits is no evidence
// against any component.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analysis/blame/blame.h"
#include "analysis/history/path_wires.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "tests/support/fabrics.h"
#include "tests/support/pauses.h"

namespace mrclab::analysis {
namespace {

using test::us;

/// One flow of h0 to a host, by RC or MRC: a packet each microsecond, and what became of it.
struct SentPackets {
  explicit SentPackets(Topology of, uint32_t to = 2, bool roce = true) : topology(std::move(of)) {
    tables.flows.push_back({0, to, Qpn{1}, roce});
    path = roce ? Path{0, 5, Chosen::kByFlow} : Path{0, 0};
  }

  Topology topology;
  PacketTables tables;
  Path path;
  FabricTime now = us(10);

  Attempt& sent() {
    Packet& packet = tables.packets.emplace_back();
    packet.psn = Psn{static_cast<uint32_t>(tables.packets.size())};
    Attempt& attempt = tables.attempts.emplace_back();
    attempt.packet = static_cast<uint32_t>(tables.packets.size() - 1);
    attempt.ev = ev_of(path);
    attempt.start = now;
    attempt.ended = FabricTime::never();
    now = now + us(1);
    return attempt;
  }
  void delivered(int count) {
    for (int i = 0; i < count; ++i) {
      Attempt& attempt = sent();
      attempt.fate = Fate::kDelivered;
      attempt.ended = attempt.start + topology.base_rtt;
    }
  }
  void dropped(int count, DropCause cause, PortRef at) {
    for (int i = 0; i < count; ++i) {
      Attempt& attempt = sent();
      attempt.fate = Fate::kDropped;
      attempt.ended = attempt.start + us(2);
      attempt.cause = cause;
      attempt.where = at;
    }
  }
  void under_way(int count) {
    for (int i = 0; i < count; ++i) sent();
  }
  /// Something else happens at that time.
  void later(FabricTime t) { now = t; }

  PortRef port(const std::string& name) const { return topology.find_port(name).value(); }
  std::vector<Blame> blames() const {
    EventHistory events(topology);
    events.finish();
    return find_blame(topology, PacketHistory(tables), events);
  }
};

Topology hashing_fabric(bool adaptive = false) {
  FabricShape shape = test::shape_of("hashing", 1, 2, 2, 2);
  shape.lossless.pfc = true;
  shape.lossless.adaptive = adaptive;
  return build_topology(shape);
}

}  // namespace

TEST_CASE("of all causes of drops those accuse a path that are neither congestion nor a refusal") {
  size_t broken = 0, congested = 0, refused = 0, denied = 0;
  for (size_t i = 1; i < kDropCauses; ++i) {
    const auto cause = static_cast<DropCause>(i);
    CAPTURE(name_of(cause));
    SentPackets run(hashing_fabric());
    const DropKind kind = drop_kind(cause);
    run.delivered(100);
    run.dropped(60, cause, run.port(kind == DropKind::kRefused ? "h2:p0" : "p0.t0-1:u0"));
    run.delivered(100);
    std::vector<Blame> blames = run.blames();
    std::erase_if(blames, [](const Blame& b) { return b.symptom == Symptom::kDrainsSlowly; });
    CHECK(blames.empty() == (kind != DropKind::kBroken));
    broken += kind == DropKind::kBroken ? 1 : 0;
    congested += kind == DropKind::kCongested ? 1 : 0;
    refused += kind == DropKind::kRefused ? 1 : 0;
    denied += kind == DropKind::kDenied ? 1 : 0;
  }
  CHECK(broken + congested + refused + denied == kDropCauses - 1);
  CHECK(congested == 5);
  CHECK(refused == 4);
  CHECK(denied == 3);
}

TEST_CASE("what go-back-N sends again needlessly, and the receiver turns away, accuses nobody") {
  SentPackets run(hashing_fabric());
  for (int round = 0; round < 30; ++round) {
    run.delivered(6);
    run.dropped(29, DropCause::kOutOfOrder, run.port("h2:p0"));
  }
  CHECK(run.blames().empty());
}

TEST_CASE(
    "what waits to the end is not lost, whatever has happened since, with pauses and without") {
  for (const bool paused : {true, false}) {
    for (const bool roce : {true, false}) {
      SentPackets run(hashing_fabric(), 2, roce);
      run.delivered(50);
      run.under_way(200);
      run.later(us(2'000));
      run.tables.flows.push_back({1, 3, Qpn{2}, roce});
      run.delivered(50);  // others go on
      for (uint32_t i = 250; i < 300; ++i) run.tables.packets[i].flow = 1;
      if (paused) run.tables.pauses.push_back({us(60), run.port("p0.t0-0:u0"), 0xFFFF});
      CHECK(run.blames().empty());
    }
  }
}

TEST_CASE("what has vanished and was overtaken on its own path is lost; elsewhere proves nothing") {
  for (const bool roce : {true, false}) {
    for (const bool same_path : {true, false}) {
      SentPackets run(hashing_fabric(), 2, roce);
      run.delivered(50);
      run.under_way(100);
      if (!same_path) run.path.uplink ^= 1;
      run.delivered(300);
      CAPTURE(roce);
      CHECK(run.blames().empty() == !same_path);
    }
  }
}

TEST_CASE("of attempts of RC that look alike the newest must be overtaken, else the packet waits") {
  SentPackets run(hashing_fabric());
  run.delivered(50);
  run.under_way(100);
  run.delivered(300);
  CHECK_FALSE(run.blames().empty());
  for (uint32_t packet = 50; packet < 150;
       ++packet) {  // each is retransmitted, and a queue drops that
    run.dropped(1, DropCause::kQueueFull, run.port("p0.t0-0:u0"));
    Attempt& again = run.tables.attempts.back();
    run.tables.packets.pop_back();
    again.packet = packet;
    again.attempt = 1;
    again.previous = packet;
    run.tables.packets[packet].last = static_cast<uint32_t>(run.tables.attempts.size() - 1);
    run.tables.packets[packet].attempts = 2;
  }
  run.later(us(2'000));
  run.tables.flows.push_back({1, 3, Qpn{2}, true});
  run.delivered(1);
  run.tables.packets.back().flow = 1;
  CHECK(run.blames().empty());
}

TEST_CASE(
    "where switches choose for each packet, only a loss with a place accuses, and that place") {
  SentPackets silent(hashing_fabric(true));
  silent.delivered(100);
  silent.dropped(60, DropCause::kWireLoss, silent.port("p0.t1-0:d0"));
  silent.under_way(60);
  silent.delivered(300);
  CHECK(silent.blames().empty());

  for (const char* uplink : {"p0.t0-0:u0", "p0.t0-0:u1"}) {
    SentPackets dark(hashing_fabric(true));
    dark.delivered(100);
    dark.dropped(60, DropCause::kPortDown, dark.port(uplink));
    const std::vector<Blame> blames = dark.blames();
    REQUIRE(blames.size() == 1);
    std::string all = blames[0].component;
    for (const std::string& other : blames[0].or_else) all += " " + other;
    CHECK(all.find(uplink) != std::string::npos);
  }
}

TEST_CASE("a path over as many switches as a carrier names has room in the evidence") {
  const FabricShape line = parse_fabric(
      read_yaml_text("name: line\nswitches: {s0: 0100, s1: 0200, s2: 0300, s3: 0400, s4: 0500}\n"
                     "hosts: [[s0], [s4]]\nlinks: {s0: [s1], s1: [s2], s2: [s3], s3: [s4]}\n",
                     "line"));
  SentPackets run(build_topology(line), 1, false);
  const std::vector<WireId> wires = wires_of(run.topology, 0, 1, run.path);
  REQUIRE(wires.size() == 6);
  run.delivered(100);
  run.dropped(60, DropCause::kWireLoss, run.topology.wire(wires[4]).to);
  run.delivered(100);
  const std::vector<Blame> blames = run.blames();
  REQUIRE(blames.size() == 1);
  CHECK(blames[0].bad == 60);
}

}  // namespace mrclab::analysis
