#include <doctest/doctest.h>

#include <fstream>

#include "analysis/history/event_history.h"
#include "analysis/trace/packet_life.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::SyntheticRun;
using test::us;

SyntheticRun::Sent packet_of_h0() {
  SyntheticRun::Sent sent;
  sent.source = 0;
  sent.destination = 2;
  sent.psn = 77;
  sent.start = us(10);
  sent.sent_at = 5;
  return sent;
}

/// What is found of that packet in one capture, and in events of these lines.
FoundPacket found_in(const Topology& t, SyntheticRun& run, const std::string& events = {}) {
  const test::ScratchFile capture("search.pcapng"), lines("search.jsonl");
  run.writer().save(capture.path());
  std::ofstream(lines.path()) << events;
  PacketSearch search(t, {packet_of_h0().qp}, Psn{77});
  search.add_capture(capture.path());
  search.add_events(lines.path());
  const std::vector<FoundPacket> found = search.found();
  REQUIRE(found.size() == 1);
  return found.front();
}

TEST_CASE("a sender's report of a loss is a line of that kind, not one that mentions it") {
  const Topology t = test::quad();
  SyntheticRun run(t);
  run.delivered(packet_of_h0());
  const std::string rest = R"(,"qp":9,"ev":3,"psn":77,"cause":)";
  const FoundPacket found = found_in(
      t, run,
      R"({"t_ps":1000,"node":"h0","port":"p0","kind":"loss_detected")" + rest + "\"rack\"}\n" +
          R"({"t_ps":2000,"node":"h0","port":"p0","kind":"ev_state")" + rest +
          "\"loss_detected\"}\n" +
          R"({"t_ps":3000,"node":"h0","port":"p0","kind":"loss_detected","qp":9})" + "\n" +
          R"({"t_ps":4000,"node":"h9","port":"p0","kind":"loss_detected")" + rest + "\"rack\"}\n");
  REQUIRE(found.declared.size() == 1);
  CHECK(found.declared[0].t == FabricTime::from_ps(1000));
  CHECK(found.declared[0].ev == EntropyValue{3});
  CHECK(found.declared[0].cause == "rack");
}

TEST_CASE("the kind of a line is known before the line is read") {
  CHECK(kind_in(R"({"t_ps":1,"node":"h0","kind":"ev_state","cause":"good"})") == "ev_state");
  CHECK(kind_in(R"({"t_ps":1,"detail":"\"kind\":\"fib\"","kind":"remap"})") == "remap");
  CHECK(kind_in(R"({"t_ps":1,"node":"h0"})").empty());
  CHECK(kind_in("").empty());
}

TEST_CASE("a packet that is seen to leave, to arrive and to be answered says so at each place") {
  const Topology t = test::quad();
  SyntheticRun run(t);
  const SyntheticRun::Sent sent = packet_of_h0();
  run.delivered(sent);
  run.sack(sent, 9, Psn{76}, 1, us(20), sent.path);
  const FoundPacket found = found_in(t, run);
  REQUIRE(found.sightings.size() == 2);
  for (const LifeSighting& s : found.sightings) {
    CHECK(s.psn == Psn{77});
    CHECK(s.payload == SyntheticRun::kPayload);
    CHECK(s.timed);
    CHECK(s.timestamp == 5);
    CHECK(s.mark().agrees(found.sightings[0].mark()));
  }
  CHECK(found.sightings[0].side == Direction::kEgress);
  CHECK(found.sightings[1].side == Direction::kIngress);
  REQUIRE(found.answers.size() == 1);
  CHECK(found.answers[0].covers);
  CHECK(found.answers[0].triggered);
  CHECK(found.answers[0].opcode == Opcode::kSack);
  CHECK(found.answers[0].qp == Qpn{9});
}

TEST_CASE("a drop is at the port that its comment names") {
  const Topology t = test::quad();
  SyntheticRun run(t);
  const SyntheticRun::Sent sent = packet_of_h0();
  run.lost(sent, "p0.t0-0:d0", "wire_loss");
  const FoundPacket found = found_in(t, run);
  REQUIRE(found.sightings.size() == 2);
  const LifeSighting& drop = found.sightings[1];
  CHECK(drop.event == PacketEvent::kDropped);
  CHECK(drop.cause == DropCause::kWireLoss);
  CHECK(drop.side == Direction::kIngress);
  CHECK(t.port_name(drop.where) == "p0.t0-0:d0");
}

}  // namespace
}  // namespace mrclab::analysis
