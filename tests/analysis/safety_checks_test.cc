// What must hold while faults are on: each check, and what makes it fail.

#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/capture/open_capture.h"
#include "analysis/checks/checks.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::AnalyzedRun;
using test::ScriptedTraffic;
using test::SyntheticRun;
using test::us;

/// Flow h0 to h2 of a few packets, every other thing as the test sets it.
struct OneFlow {
  explicit OneFlow(const char* name)
      : topology(test::quad()), run(topology, name), events_(std::string(name) + ".jsonl") {
    for (HostReport& host : run.inputs.hosts.hosts) host.queues.push_back({Qpn{1}, Qpn{0x99}, 3});
    run.inputs.retry_span = us(200);
  }
  static SyntheticRun::Sent packet(uint32_t psn, int64_t at) {
    SyntheticRun::Sent s;
    s.source = 0;
    s.destination = 2;
    s.psn = psn;
    s.start = us(at);
    return s;
  }
  void deliver(uint32_t psn, int64_t at) { run.run.delivered(packet(psn, at)); }
  /// A SACK ties the sender's QP 0x55 to the flow.
  void sack(uint32_t psn, Psn cumulative, int64_t at) {
    run.run.sack(packet(psn, 0), 0x55, cumulative, 0, us(at), {0, 0});
  }
  QueueReport& queue_of_h0() {
    QueueReport& queue = run.inputs.hosts.hosts[0].queues[0];
    queue.peer = 2;
    queue.remote = Qpn{0x100};
    return queue;
  }
  void qp_error(const char* host, const char* peer, int64_t at, const char* reason) {
    std::ofstream out(events_.path(), std::ios::app);
    out << nlohmann::json{{"t_ps", us(at).ps()}, {"node", host},
                          {"kind", "qp_error"},  {"qp", 1},
                          {"cause", reason},     {"detail", std::string("to ") + peer}}
        << "\n";
    run.inputs.events = events_.path();
    ++run.inputs.hosts.hosts[*topology.find_node(host) == topology.host(0) ? 0 : 2].qps_in_error;
  }
  CheckResult check(Expectation expectation) { return run.check(std::move(expectation)); }
  Result result(Expectation expectation) { return check(std::move(expectation)).result; }

  Topology topology;
  AnalyzedRun run;

 private:
  test::ScratchFile events_;
};

TEST_CASE("placed_once holds for packets that come twice and say the same both times") {
  OneFlow story("placed");
  story.deliver(1, 10);
  SyntheticRun::Sent again = OneFlow::packet(1, 40);
  again.retransmission = true;
  again.path = {1, 1};
  story.run.run.delivered(again);
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kPass);
}

TEST_CASE("placed_once fails when a retransmission has another content or another address") {
  for (const bool content : {true, false}) {
    OneFlow story(content ? "placed-content" : "placed-address");
    story.deliver(1, 10);
    SyntheticRun::Sent again = OneFlow::packet(1, 40);
    again.retransmission = true;
    if (content) again.fill = 7;
    if (!content) again.va = 0x5000;
    story.run.run.delivered(again);
    const CheckResult check = story.check(ExpectPlacedOnce{});
    CHECK(check.result == Result::kFail);
    CHECK(check.measured == 1);
  }
}

TEST_CASE("a damaged frame that the NIC refused has placed nothing") {
  OneFlow story("placed-refused");
  story.deliver(1, 10);
  SyntheticRun::Sent damaged = OneFlow::packet(2, 40);
  story.run.run.leaves(damaged);
  damaged.fill = 7;
  const std::vector<uint8_t> frame = story.run.run.data_frame(damaged);
  story.run.run.record("h2:p0", test::kInbound, us(50), frame, frame.size());
  story.run.run.drop("h2:p0", test::kInbound, us(51), frame, "bad_icrc");
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kPass);
}

TEST_CASE("placed_once fails when the packets of a message do not lie side by side in it") {
  struct Row {
    const char* name;
    uint64_t va_of_last;
    uint32_t message;
    bool good;
  };
  for (const Row& row :
       {Row{"side-good", 0x2000, 3 * 4096, true}, Row{"side-hole", 0x3000, 3 * 4096, false},
        Row{"side-short", 0x2000, 4 * 4096, false}}) {
    CAPTURE(row.name);
    OneFlow story(row.name);
    const std::vector<Opcode> opcodes{Opcode::kWriteFirst, Opcode::kWriteMiddle,
                                      Opcode::kWriteLast};
    for (uint32_t i = 0; i < 3; ++i) {
      SyntheticRun::Sent s = OneFlow::packet(i, 10 + i);
      s.opcode = opcodes[i];
      s.va = i == 2 ? row.va_of_last : i * 0x1000;
      s.message = row.message;
      story.run.run.delivered(s);
    }
    CHECK(story.result(ExpectPlacedOnce{}) == (row.good ? Result::kPass : Result::kFail));
  }
}

TEST_CASE("placed_once fails outside of a region, and when a host counts more than reached it") {
  OneFlow story("region");
  story.deliver(1, 10);
  story.run.inputs.regions = {{2, 0x77, 4096, {4096}}};
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kPass);
  story.run.inputs.regions = {{2, 0x77, 4096, {4095}}};
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kFail);
  story.run.inputs.regions = {{2, 0x78, 4096, {4096}}};
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kFail);
  story.run.inputs.regions.clear();
  story.run.inputs.hosts.hosts[2].bytes_placed = 4096;
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kPass);
  story.run.inputs.hosts.hosts[2].bytes_placed = 2 * 4096;
  CHECK(story.result(ExpectPlacedOnce{}) == Result::kFail);
}

TEST_CASE("no_silent_loss fails when a message is told to be done that did not arrive whole") {
  OneFlow story("silent");
  story.deliver(1, 10);
  story.deliver(2, 11);
  story.run.run.lost(OneFlow::packet(3, 12), "p0.t0-1:d0", "wire_down");
  QueueReport& queue = story.queue_of_h0();
  queue.posted = 3;
  queue.completed = 2;
  CHECK(story.result(ExpectNoSilentLoss{}) == Result::kPass);
  queue.completed = 3;
  const CheckResult check = story.check(ExpectNoSilentLoss{});
  CHECK(check.result == Result::kFail);
  CHECK(check.measured == 1);
}

TEST_CASE("no_silent_loss fails when a queue pair in error has not said so of a message") {
  OneFlow story("unanswered");
  story.deliver(1, 10);
  QueueReport& queue = story.queue_of_h0();
  queue.posted = 3;
  queue.completed = 1;
  queue.in_error = true;
  queue.failed = 2;
  CHECK(story.result(ExpectNoSilentLoss{}) == Result::kPass);
  queue.failed = 1;
  CHECK(story.result(ExpectNoSilentLoss{}) == Result::kFail);
  story.run.inputs.schedule.push_back(
      {us(300), HostState{story.topology.host(0), HostWork::kDown}});
  CHECK(story.result(ExpectNoSilentLoss{}) == Result::kPass);  // it lost its power, and its word
}

TEST_CASE("no_silent_loss fails when a receiver acknowledges what it does not have") {
  OneFlow story("premature");
  story.deliver(1, 10);
  story.run.run.lost(OneFlow::packet(2, 11), "p0.t0-1:d0", "wire_down");
  story.deliver(3, 12);
  story.sack(3, Psn{1}, 60);
  CHECK(story.result(ExpectNoSilentLoss{}) == Result::kPass);
  story.sack(3, Psn{3}, 70);
  const CheckResult check = story.check(ExpectNoSilentLoss{});
  CHECK(check.result == Result::kFail);
  CHECK(check.note.find("PSN 2") != std::string::npos);
}

TEST_CASE("in_order fails by the host's word, and by an ACK before everything up to it is there") {
  OneFlow story("order");
  story.deliver(1, 10);
  story.deliver(3, 12);
  story.sack(1, Psn{1}, 60);
  const auto ack = [&](uint32_t psn, int64_t at) {
    story.run.run.ack(OneFlow::packet(psn, 0), 0x55, Psn{psn}, us(at), {0, 0});
  };
  ack(1, 61);
  CHECK(story.result(ExpectInOrder{}) == Result::kPass);
  story.queue_of_h0().out_of_order = 1;
  CHECK(story.result(ExpectInOrder{}) == Result::kFail);
  story.queue_of_h0().out_of_order = 0;
  ack(3, 62);  // 2 is not there
  CHECK(story.result(ExpectInOrder{}) == Result::kFail);
}

TEST_CASE("a QP may fail when no path worked all through its retry span, and not otherwise") {
  const auto judged = [](const char* name, std::vector<const char*> ports, int64_t until) {
    OneFlow story(name);
    for (const char* port : ports) story.run.add_link_fault(port, us(100), us(until));
    story.qp_error("h0", "h2", 400, "Retry Counter Exceeded");
    return story.result(ExpectNoQpErrorWhileAPathLives{});
  };
  CHECK(judged("one-port", {"h0:p0"}, 500) == Result::kFail);
  CHECK(judged("all-ports", {"h0:p0", "h0:p1"}, 500) == Result::kPass);
  CHECK(judged("both-ends", {"h0:p0", "h2:p1"}, 500) == Result::kPass);
  CHECK(judged("uplinks", {"h0:p0", "p1.t0-0:u0"}, 500) == Result::kFail);
  CHECK(judged("all-uplinks", {"h0:p0", "p1.t0-0:u0", "p1.t0-1:u1"}, 500) == Result::kPass);
  CHECK(judged("back-in-time", {"h0:p0", "h0:p1"}, 199) == Result::kFail);
  CHECK(judged("too-late", {"h0:p0", "h0:p1"}, 201) == Result::kPass);
}

TEST_CASE("a QP may fail when a host lost its power, its paths are denied, or its peer failed") {
  OneFlow power("power");
  power.qp_error("h0", "h2", 400, "Retry Counter Exceeded");
  CHECK(power.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kFail);
  power.run.inputs.schedule = {{us(50), HostState{power.topology.host(2), HostWork::kDown}},
                               {us(90), HostState{power.topology.host(2), HostWork::kRunning}}};
  CHECK(power.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kPass);

  OneFlow denied("denied");
  denied.qp_error("h0", "h2", 400, "Retry Counter Exceeded");
  for (uint32_t plane = 0; plane < 2; ++plane) {
    for (uint32_t uplink = 0; uplink < 2; ++uplink) {
      CHECK(denied.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kFail);
      denied.run.inputs.schedule.push_back(
          {us(100), EvDenial{denied.topology.host(0), ev_of({plane, uplink}), {}, true}});
    }
  }
  CHECK(denied.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kPass);

  OneFlow cascade("cascade");
  cascade.run.add_link_fault("h0:p0", us(100), us(450));
  cascade.run.add_link_fault("h0:p1", us(100), us(450));
  cascade.qp_error("h0", "h2", 400, "Retry Counter Exceeded");
  cascade.qp_error("h2", "h0", 900, "Remote Operation Error");
  CHECK(cascade.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kPass);
}

TEST_CASE("QPs that failed without an event cannot be judged") {
  OneFlow story("no-events");
  story.run.inputs.hosts.hosts[0].qps_in_error = 1;
  CHECK(story.result(ExpectNoQpErrorWhileAPathLives{}) == Result::kInconclusive);
}

TEST_CASE("accounted fails for a packet that left and was never seen again") {
  OneFlow story("vanished");
  story.deliver(1, 10);
  story.run.run.lost(OneFlow::packet(2, 11), "p0.t0-1:d0", "wire_down");
  story.run.run.leaves(OneFlow::packet(3, 999));                    // still on its way
  CHECK(story.result(ExpectAccounted{}) == Result::kInconclusive);  // no records of switches
  story.run.run.leaves(OneFlow::packet(4, 20));
  const CheckResult check = story.check(ExpectAccounted{});
  CHECK(check.result == Result::kFail);
  CHECK(check.note.find("PSN 4") != std::string::npos);
  REQUIRE(check.where);
  REQUIRE(check.where->packet);
  CHECK(check.where->from > us(19));  // captures round
  CHECK(check.where->from < us(21));
  CHECK(check.where->who == "h0 to h2 QP 0x000100 PSN 4 on p0/-");
  // The frame that it names, counted from 1, is that packet.
  const auto capture = open_capture(story.run.inputs.captures.front());
  CHECK(check.where->packet->file == story.run.inputs.captures.front().filename());
  CaptureRecord record;
  REQUIRE(check.where->packet->frame > 1);
  for (uint64_t i = 0; i < check.where->packet->frame; ++i) REQUIRE(capture->next(record));
  MrcPacket named;
  REQUIRE(parse_mrc_frame(record.bytes, named, {.allow_cut = true}) == ParseError::kNone);
  CHECK(named.bth.psn == Psn{4});
  CHECK(capture->interfaces()[record.interface].name == "h0:p0");
  // A switch that damages frames makes strangers of them: each stands for one that is missing.
  story.run.inputs.schedule = {
      {us(5), SwitchErrors{story.topology.t0(0, 0), BitErrorRate{1'000'000}}}};
  const std::vector<uint8_t> stranger = story.run.run.data_frame(OneFlow::packet(500, 20));
  story.run.run.drop("h2:p0", test::kInbound, us(51), stranger, "bad_icrc");
  CHECK(story.result(ExpectAccounted{}) == Result::kInconclusive);
}

TEST_CASE("conservation: what a wire or a switch took must have come out, or be young") {
  const Topology topology = test::quad();
  const PortRef from = *topology.find_port("h0:p0");
  const WireId wire = topology.port(from).out;
  const PortRef to = topology.wire(wire).to;
  const PortId out{topology.hosts_per_t0};
  Conservation books(topology, {}, us(1000));
  const auto add = [&](PortRef at, Direction direction, PacketEvent event, DropCause cause,
                       FabricTime t) {
    books.count_record(at.node, at.port, direction, event, cause, QueueClass::kData, t, 7);
  };
  const auto passed = [&](PortRef at, Direction direction, FabricTime t) {
    add(at, direction, PacketEvent::kPassed, DropCause::kNone, t);
  };
  passed(from, Direction::kEgress, us(100));
  CHECK(books.wire(wire).missing == 1);  // it should have arrived long ago
  passed(to, Direction::kIngress, us(101));
  CHECK(books.wire(wire).holds());
  CHECK_FALSE(books.inside(to.node).holds());
  passed({to.node, out}, Direction::kEgress, us(102));
  CHECK(books.inside(to.node).holds());
  // Lost on the way: on the wire, before the switch had it.
  passed(from, Direction::kEgress, us(200));
  add(to, Direction::kIngress, PacketEvent::kDropped, DropCause::kWireDown, us(201));
  CHECK(books.wire(wire).holds());
  CHECK(books.inside(to.node).holds());
  // Young ones may be on the wire, or queued.
  passed(from, Direction::kEgress, us(1000));
  passed(from, Direction::kEgress, us(999));
  passed(to, Direction::kIngress, us(999) + topology.wire(wire).propagation);
  CHECK(books.wire(wire).holds());
  CHECK(books.inside(to.node).holds());
  // A frame that no node put in must not come out.
  passed({to.node, out}, Direction::kEgress, us(990));
  passed({to.node, out}, Direction::kEgress, us(991));
  CHECK_FALSE(books.inside(to.node).holds());
}

TEST_CASE("a wire that carries frames twice makes no frames out of nowhere") {
  const Topology topology = test::quad();
  const NodeId t0 = topology.t0(0, 0);
  const PortId in{0}, out{topology.hosts_per_t0};
  const WireId wire = topology.port({t0, out}).out;
  const std::vector<ScheduledEffect> schedule{
      {us(10), WireDuplicates{wire, Probability{Probability::kOne}}}};
  for (const bool twice : {false, true}) {
    Conservation books(topology, twice ? std::span(schedule) : std::span<const ScheduledEffect>(),
                       us(1000));
    const auto add = [&](PortId port, Direction direction, int64_t t) {
      books.count_record(t0, port, direction, PacketEvent::kPassed, DropCause::kNone,
                         QueueClass::kData, us(t), 7);
    };
    add(in, Direction::kIngress, 100);
    add(out, Direction::kEgress, 102);
    add(out, Direction::kEgress, 103);
    CHECK(books.inside(t0).invented == (twice ? 0 : 1));
  }
}

TEST_CASE("a frame that is carried twice does not use up another host's of the same number") {
  const Topology topology = test::quad();
  const NodeId t0 = topology.t0(0, 0);
  const PortId in{topology.hosts_per_t0};
  const WireId wire = topology.port({t0, PortId{0}}).out;
  const std::vector<ScheduledEffect> schedule{
      {us(10), WireDuplicates{wire, Probability{Probability::kOne}}}};
  Conservation books(topology, schedule, us(1000));
  const SyntheticRun run(topology);
  // To h0 and to h1: queue pair, PSN and entropy value are the same, as of endpoint probes.
  FramePool pool;
  std::array<uint64_t, 2> names{};
  for (uint32_t host = 0; host < 2; ++host) {
    SyntheticRun::Sent s;
    s.source = 2;
    s.destination = host;
    s.path = {0, 0};
    names[host] = name_of_frame(pool.copy(run.data_frame(s)));
  }
  const auto add = [&](PortId port, Direction direction, uint32_t host, int64_t t) {
    books.count_record(t0, port, direction, PacketEvent::kPassed, DropCause::kNone,
                       QueueClass::kData, us(t), names[host]);
  };
  add(in, Direction::kIngress, 0, 100);
  add(in, Direction::kIngress, 1, 100);
  add(PortId{0}, Direction::kEgress, 0, 102);
  add(PortId{0}, Direction::kEgress, 0, 103);
  add(PortId{1}, Direction::kEgress, 1, 104);
  CHECK(books.inside(t0).holds());
}

TEST_CASE("a wire that a fault made slow or long may hold its frames so much longer") {
  const Topology topology = test::quad();
  const PortRef from = *topology.find_port("h0:p0");
  const WireId wire = topology.port(from).out;
  const std::vector<ScheduledEffect> schedule{
      {us(10), WireDelay{wire, us(50), us(20), Probability{Probability::kOne}, false}}};
  for (const bool delayed : {false, true}) {
    Conservation books(topology, delayed ? std::span(schedule) : std::span<const ScheduledEffect>(),
                       us(1000));
    books.count_record(from.node, from.port, Direction::kEgress, PacketEvent::kPassed,
                       DropCause::kNone, QueueClass::kData, us(940), 7);
    CHECK(books.wire(wire).holds() == delayed);
  }
}

TEST_CASE(
    "a frame may stay in a switch as long as the weights of its scheduler can keep it, no longer") {
  const Topology topology = test::quad();
  const NodeId t0 = topology.t0(0, 0);
  const PortId in{0}, out{topology.hosts_per_t0};
  const QueueProfile& queues = topology.queues_of(topology.wire(topology.port({t0, out}).out));
  const BitRate rate = topology.wire(topology.port({t0, out}).out).rate;
  // By hand: the data queue is full of bytes that go before the frame, as many of trimmed frames go between them; of
  // RoCE's, where there is such data, as many as of both; and for each of them three bytes of control.
  const FabricTime alone = serialization_time(queues.tail_drop * 2 * 4, rate);
  const FabricTime beside_roce = serialization_time(queues.tail_drop * 2 * 2 * 4, rate);
  const FabricTime some_frames = serialization_time(Bytes{100'000}, rate) + us(2);
  const FabricTime end = us(2000);
  for (const bool roce : {false, true}) {
    const FabricTime longest = roce ? beside_roce : alone;
    for (const bool too_long : {false, true}) {
      Conservation books(topology, {}, end);
      const auto add = [&](Direction direction, QueueClass queue, FabricTime t, uint64_t name) {
        books.count_record(t0, direction == Direction::kIngress ? in : out, direction,
                           PacketEvent::kPassed, DropCause::kNone, queue, t, name);
      };
      add(Direction::kIngress, QueueClass::kNone, us(1), 7);
      add(Direction::kEgress, QueueClass::kData, us(2), 7);
      if (roce) {
        add(Direction::kIngress, QueueClass::kNone, us(1), 8);
        add(Direction::kEgress, QueueClass::kLossless, us(2), 8);
      }
      const FabricTime waits = too_long ? longest + some_frames : longest;
      add(Direction::kIngress, QueueClass::kNone, end - waits, 9);
      INFO(roce << " " << too_long << ", judged by " << to_string(books.residence(t0)));
      CHECK(books.inside(t0).holds() == !too_long);
    }
  }
}

}  // namespace
}  // namespace mrclab::analysis
