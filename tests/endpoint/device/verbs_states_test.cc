// Programs at fabric time, states of queue pairs, and what libmrc's controller asks of a device.

#include <doctest/doctest.h>

#include <numeric>

#include "fabric/paths/path_list.h"
#include "tests/support/verbs_lab.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;
using mrclab::test::VerbsLab;

namespace {

/// A program that answers each message at the instant at which it is there.
struct Answering : DeviceUser {
  explicit Answering(VerbsLab& of) : lab(of) { lab.far.device->set_user(this); }
  ~Answering() override { lab.far.device->set_user(nullptr); }
  void on_completion(CqHandle) override { lab.far.device->wake_at(lab.far.device->now()); }
  void on_memory_written() override { ++writes; }
  void on_async_event() override { ++events; }
  void on_wake() override {
    woken.push_back(lab.far.device->now());
    for (const WorkCompletion& done : lab.far.poll()) {
      if (done.opcode != WorkOpcode::kReceiveRdmaWithImmediate) continue;
      WorkRequest back = lab.write(done.wr_id, data);
      back.rkey = lab.near.region.rkey;
      CHECK(lab.far.post(std::move(back)) == PostResult::kOk);
    }
  }
  VerbsLab& lab;
  std::vector<uint8_t> data = std::vector<uint8_t>(64, 9);
  std::vector<FabricTime> woken;
  uint32_t writes = 0, events = 0;
};

}  // namespace

TEST_CASE("a program runs at the instant at which something happened to it, and can act there") {
  VerbsLab lab(TransportKind::kMrc);
  Answering program(lab);
  const std::vector<uint8_t> data(10'000, 3);
  CHECK(lab.far.receive(1, 0, 0) == PostResult::kOk);
  WorkRequest request = lab.write(1, data);
  request.immediate = 1;
  CHECK(lab.near.post(std::move(request)) == PostResult::kOk);
  lab.far.device->wake_at(us(50));
  lab.far.device->wake_at(us(50));
  lab.run_for(us(100));
  REQUIRE(program.woken.size() == 3);  // message, answer's completion, alarm
  CHECK(program.woken[0] > us(1));
  CHECK(program.woken[0] < us(10));
  CHECK(program.woken[2] == us(50));
  CHECK(program.writes == 3);  // packets
  CHECK(lab.near.bytes[63] == 9);
}

TEST_CASE("RESET drops everything without a report, and the queue pair can be used again") {
  TransportKind transport = TransportKind::kMrc;
  SUBCASE("MRC") {}
  SUBCASE("RC") { transport = TransportKind::kRoce; }
  VerbsLab lab(transport);
  const std::vector<uint8_t> data(50'000, 3);
  CHECK(lab.near.receive(7, 0, 0) == PostResult::kOk);
  CHECK(lab.near.post(lab.write(1, data)) == PostResult::kOk);
  lab.run_for(us(2));
  for (auto* p : {&lab.near, &lab.far}) {
    p->device->modify_to_reset(p->qpn);
    CHECK(p->state() == QpState::kReset);
    CHECK(p->device->post_receive(p->qpn, {.id = 1}) == PostResult::kWrongState);
    CHECK(p->events().empty());
  }
  lab.run_for(us(100));
  CHECK(lab.near.poll().empty());
  for (auto* p : {&lab.near, &lab.far}) p->device->modify(p->qpn, InitAttributes{});
  lab.connect();
  CHECK(lab.near.post(lab.write(2, data)) == PostResult::kOk);
  lab.run_for(us(100));
  const auto done = lab.near.poll();
  REQUIRE(done.size() == 1);
  CHECK(done[0].wr_id == 2);
  CHECK(done[0].status == WorkStatus::kSuccess);
}

TEST_CASE("ERROR flushes in order, from INIT too, and the user that asked for it needs no event") {
  VerbsLab lab({.connects = false});
  CHECK(lab.near.receive(1, 0, 10) == PostResult::kOk);
  CHECK(lab.near.receive(2, 0, 10) == PostResult::kOk);
  CHECK(lab.near.post(lab.write(3, {})) == PostResult::kWrongState);
  lab.near.device->modify_to_error(lab.near.qpn);
  const auto done = lab.near.poll();
  REQUIRE(done.size() == 2);
  CHECK(done[0].wr_id == 1);
  CHECK(done[1].status == WorkStatus::kFlushError);
  CHECK(lab.near.post(lab.write(3, {})) == PostResult::kOk);
  CHECK(lab.near.poll().at(0).status == WorkStatus::kFlushError);
  lab.near.device->modify_to_reset(lab.near.qpn);
  lab.near.device->modify(lab.near.qpn, InitAttributes{});
}

TEST_CASE("a packet that comes in before RTS establishes communication") {
  TransportKind transport = TransportKind::kMrc;
  SUBCASE("MRC") {}
  SUBCASE("RC") { transport = TransportKind::kRoce; }
  VerbsLab lab({.transport = transport, .connects = false});
  lab.make_ready(lab.near, lab.far, true);
  lab.make_ready(lab.far, lab.near, false);
  CHECK(lab.near.post(lab.write(1, {})) == PostResult::kOk);
  lab.run_for(us(50));
  const auto events = lab.far.events();
  REQUIRE(events.size() == 1);
  CHECK(events[0].kind == AsyncEvent::Kind::kCommEstablished);
  CHECK(events[0].qpn == lab.far.qpn);
}

TEST_CASE("a queue pair that its program has destroyed stays in its host's account") {
  TransportKind transport = TransportKind::kMrc;
  SUBCASE("MRC") {}
  SUBCASE("RC") { transport = TransportKind::kRoce; }
  VerbsLab lab(transport);
  const std::vector<uint8_t> data(1000, 7);
  CHECK(lab.near.post(lab.write(1, data)) == PostResult::kOk);
  lab.run_for(us(100));
  CHECK(lab.near.post(lab.write(2, data)) == PostResult::kOk);
  lab.near.device->destroy_queue_pair(lab.near.qpn);
  const auto queues = lab.fabric.host(0).queues();
  REQUIRE(queues.size() == 1);
  CHECK(queues[0].local == lab.near.qpn);
  CHECK(queues[0].remote == lab.far.qpn);
  CHECK(queues[0].peer == 1);
  CHECK(queues[0].posted == 2);
  CHECK(queues[0].completed == 1);
  CHECK(queues[0].failed == 1);
  CHECK_FALSE(queues[0].in_error);
  CHECK(lab.fabric.stats(0).qps == 0);
  CHECK(lab.fabric.stats(0).qps_ended == 1);
}

TEST_CASE(
    "only the last port that goes dark, and the first that is back, is the whole NIC's event") {
  VerbsLab lab(TransportKind::kMrc);
  lab.near.device->set_gid_moves(true);
  const auto flap = [&](FabricTime at, const char* port, bool up) {
    lab.fabric.set_link(at, lab.fabric.link_of(port), up);
  };
  flap(us(10), "h0:p0", false);
  flap(us(20), "h0:p1", false);
  flap(us(30), "h0:p1", true);
  flap(us(40), "h0:p0", true);
  lab.run_for(us(25));
  CHECK_FALSE(lab.near.device->query_port().active);
  lab.run_for(us(75));
  CHECK(lab.near.device->query_port().live_ports == 3);
  std::vector<bool> whole;
  uint32_t moved = 0;
  for (const AsyncEvent& event : lab.near.events()) {
    if (event.kind == AsyncEvent::Kind::kPortActive || event.kind == AsyncEvent::Kind::kPortError) {
      whole.push_back(event.whole_nic);
    }
    if (event.kind == AsyncEvent::Kind::kGidChange) ++moved;
  }
  CHECK(whole == std::vector{false, true, true, false});
  CHECK(lab.near.device->query_port().gids == 0xF0);
  CHECK(moved == 1);
}

TEST_CASE(
    "a controller makes a list of paths that queue pairs keep to, and probes and denies paths") {
  VerbsLab lab({.transport = TransportKind::kMrc, .connects = false});
  Device& device = *lab.near.device;
  using State = EvProfileAttributes::State;
  std::vector<EntropyValue> both, one;
  for (const Path& path : paths_between(lab.fabric.topology, 0, 1)) {
    both.push_back(ev_of(path));
    if (path.plane == 1) one.push_back(both.back());
  }
  REQUIRE(both.size() == 2);
  CHECK_THROWS_AS(device.query_ev_profile(5), std::invalid_argument);
  CHECK_THROWS_AS(device.modify_ev_profile(5, {State::kOnline, EvProfile::Mode::kExplicit, one, 0}),
                  std::invalid_argument);
  device.modify_ev_profile(5, {State::kOffline, EvProfile::Mode::kExplicit, one, 0});
  device.modify_to_reset(lab.near.qpn);
  CHECK_THROWS_AS(device.modify(lab.near.qpn, InitAttributes{.ev_profile_id = 5}),
                  std::invalid_argument);
  device.modify_ev_profile(5, {State::kOnline, EvProfile::Mode::kExplicit, one, 0});
  device.modify(lab.near.qpn, InitAttributes{.ev_profile_id = 5});
  CHECK(device.query_ev_profile(5).users == 1);
  CHECK_THROWS_AS(
      device.modify_ev_profile(5, {State::kOffline, EvProfile::Mode::kExplicit, one, 0}),
      std::invalid_argument);
  lab.connect();
  const std::vector<uint8_t> data(50'000, 3);
  CHECK(lab.near.post(lab.write(1, data)) == PostResult::kOk);
  lab.run_for(us(99));
  CHECK(lab.near.poll().at(0).status == WorkStatus::kSuccess);
  CHECK(lab.fabric.stats(0).planes[0].tx_payload_bytes == 0);
  CHECK(lab.fabric.stats(0).planes[1].tx_payload_bytes == 50'000);

  both.push_back(ev_of({7, 0}));
  device.wake_at(us(100));  // the present is as far as the host has run
  lab.run_for(us(1));
  const Ipv6Address far = host_address(lab.fabric.topology, 1);
  const uint64_t request = device.probe_paths(far, both, us(40));
  lab.run_for(us(20));
  for (uint32_t i = 0; i < 2; ++i) {
    const auto probe = device.next_path_probe();
    REQUIRE(probe);
    CHECK(probe->request == request);
    REQUIRE(probe->rtt);
    CHECK(*probe->rtt > us(1));
    CHECK(*probe->rtt < us(10));
  }
  CHECK_FALSE(device.next_path_probe());
  lab.run_for(us(30));
  const auto silent = device.next_path_probe();
  REQUIRE(silent);
  CHECK(silent->ev == both[2]);
  CHECK_FALSE(silent->rtt);

  device.deny_path(one[0], std::nullopt, true);
  lab.run_for(us(10));
  const auto event = device.poll_ev_event();
  REQUIRE(event);
  CHECK(event->state == EvState::kDenied);
  CHECK(device.query_cc_profile(0).algorithm == "uet-1.0-nscc");
  device.destroy_queue_pair(lab.near.qpn);
  CHECK(device.query_ev_profile(5).users == 0);
}
