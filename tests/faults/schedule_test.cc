// Schedules, computed by hand. On two rows (2 planes x (2 T0 + 1 T1), 2 hosts) the link of h0 in
// plane 0 is link 0 with wires 0 (h0 -> T0) and 1 (T0 -> h0).

#include "faults/schedule.h"

#include <doctest/doctest.h>

#include "fabric/node/effect_text.h"
#include "fabric/topology/path.h"
#include "faults/generator.h"
#include "tests/faults/fault_effects.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::us;

namespace {

Fault of(FaultKind kind, FabricTime at, FabricTime duration, Targets targets) {
  Fault fault{at, kind, std::move(targets), {}};
  if (duration != FabricTime::never()) fault.settings.set(Parameter::kFor, duration.ps());
  return fault;
}

Fault link_down(FabricTime at, FabricTime duration, LinkId link = LinkId{0}) {
  return of(FaultKind::kLinkDown, at, duration, {.links = {link}});
}

Fault lossy(FabricTime at, FabricTime duration, uint32_t percent) {
  Fault fault = of(FaultKind::kWireLoss, at, duration, {.wires = {WireId{0}}});
  fault.settings.set(Parameter::kLoss, percent * 10'000'000);
  return fault;
}

Fault glitch(FabricTime at, OpticId optic, FabricTime down, FabricTime stagger) {
  Fault fault = of(FaultKind::kOpticGlitch, at, FabricTime::never(), {.optics = {optic}});
  fault.settings.set(Parameter::kDown, down.ps());
  fault.settings.set(Parameter::kStagger, stagger.ps());
  return fault;
}

/// "300us wire 0 down fault 0", one effect per line, in the order of the schedule.
std::string text_of(const std::vector<ScheduledEffect>& schedule, const Topology& t) {
  std::string text;
  for (const ScheduledEffect& e : schedule) {
    text += exact(e.at) + " ";
    if (const auto* wire = std::get_if<WireState>(&e.effect)) {
      text += "wire " + t.wire_name(wire->wire) + (wire->up ? " up" : " down");
    } else if (const auto* loss = std::get_if<WireLoss>(&e.effect)) {
      text += "loss " + t.wire_name(loss->wire) + " " + exact(loss->loss);
    } else if (const auto* denial = std::get_if<EvDenial>(&e.effect)) {
      text += target_name(t, *denial) + (denial->denied ? " denied" : " allowed");
    } else {
      const auto& carrier = std::get<PortCarrier>(e.effect);
      text += "carrier " + t.port_name(carrier.port) + (carrier.up ? " up" : " down");
    }
    text += " fault " + std::to_string(e.fault) + (e.heals ? " heals\n" : "\n");
  }
  return text;
}

}  // namespace

TEST_CASE("a link that goes down and comes back is eight effects at two instants") {
  const Topology t = test::two_rows();
  CHECK(text_of(compile({link_down(us(10), us(5))}, t), t) ==
        "10us wire h0:p0->p0.t0-0:d0 down fault 0\n"
        "10us wire p0.t0-0:d0->h0:p0 down fault 0\n"
        "10us carrier h0:p0 down fault 0\n"
        "10us carrier p0.t0-0:d0 down fault 0\n"
        "15us wire h0:p0->p0.t0-0:d0 up fault 0 heals\n"
        "15us wire p0.t0-0:d0->h0:p0 up fault 0 heals\n"
        "15us carrier h0:p0 up fault 0 heals\n"
        "15us carrier p0.t0-0:d0 up fault 0 heals\n");
}

TEST_CASE("the links of an optic go down one after the other, each for its own time") {
  const Topology t = test::octet();
  const auto schedule =
      compile({glitch(us(300), t.port(*t.find_port("p0.t0-0:d0")).optic, us(100), us(20))}, t);
  REQUIRE(schedule.size() == 4 * 8);
  // Carrier at the hosts: down at 300, 320, 340, 360; up at 400, 420, 440, 460.
  std::vector<std::pair<int64_t, std::string>> downs;
  std::vector<std::pair<int64_t, std::string>> ups;
  for (const ScheduledEffect& e : schedule) {
    const auto* carrier = std::get_if<PortCarrier>(&e.effect);
    if (!carrier || t.node(carrier->port.node).role != NodeRole::kHost) continue;
    (carrier->up ? ups : downs).emplace_back(e.at.ns() / 1000, t.port_name(carrier->port));
    CHECK(carrier->up == e.heals);
  }
  using Lines = std::vector<std::pair<int64_t, std::string>>;
  CHECK(downs == Lines{{300, "h0:p0"}, {320, "h1:p0"}, {340, "h2:p0"}, {360, "h3:p0"}});
  CHECK(ups == Lines{{400, "h0:p0"}, {420, "h1:p0"}, {440, "h2:p0"}, {460, "h3:p0"}});
}

TEST_CASE("a schedule is sorted, its sequence numbers count from where they were told") {
  const Topology t = test::octet();
  const auto schedule =
      compile({link_down(us(50), us(5), LinkId{7}), glitch(us(1), OpticId{3}, us(100), us(7)),
               lossy(us(20), us(40), 5)},
              t, 1000);
  for (size_t i = 0; i < schedule.size(); ++i) {
    CHECK(schedule[i].sequence == 1000 + i);
    if (i > 0) CHECK(schedule[i - 1].at <= schedule[i].at);
  }
}

TEST_CASE("a target comes back only when the last fault lets go of it") {
  const Topology t = test::two_rows();
  SUBCASE("overlapping") {
    // Fault 0 holds [10, 20), fault 1 holds [15, 30): down at 10, up at 30.
    CHECK(text_of(compile({link_down(us(10), us(10)), link_down(us(15), us(15))}, t), t) ==
          "10us wire h0:p0->p0.t0-0:d0 down fault 0\n"
          "10us wire p0.t0-0:d0->h0:p0 down fault 0\n"
          "10us carrier h0:p0 down fault 0\n"
          "10us carrier p0.t0-0:d0 down fault 0\n"
          "30us wire h0:p0->p0.t0-0:d0 up fault 1 heals\n"
          "30us wire p0.t0-0:d0->h0:p0 up fault 1 heals\n"
          "30us carrier h0:p0 up fault 1 heals\n"
          "30us carrier p0.t0-0:d0 up fault 1 heals\n");
  }
  SUBCASE("one inside the other") {
    const auto schedule = compile({link_down(us(12), us(2)), link_down(us(10), us(10))}, t);
    REQUIRE(schedule.size() == 8);
    CHECK(schedule.front().at == us(10));
    CHECK(schedule.back().at == us(20));
  }
  SUBCASE("back to back there is no instant of light between") {
    const auto schedule = compile({link_down(us(10), us(5)), link_down(us(15), us(5))}, t);
    REQUIRE(schedule.size() == 8);
    CHECK(schedule[4].at == us(20));
    CHECK(schedule[4].fault == 1);
  }
  SUBCASE("one that does not heal keeps it down") {
    const auto schedule =
        compile({link_down(us(10), us(5)), link_down(us(12), FabricTime::never())}, t);
    CHECK(schedule.size() == 4);
  }
  SUBCASE("the same fault twice at once is one outage") {
    const auto schedule = compile({link_down(us(10), us(5)), link_down(us(10), us(5))}, t);
    REQUIRE(schedule.size() == 8);
    CHECK(schedule[0].fault == 0);
    CHECK(schedule[7].fault == 0);
  }
}

TEST_CASE("one end of a link may be held longer than the other") {
  const Topology t = test::two_rows();
  // Link 0 down in [10, 20); its wire towards the T0 dark in [15, 40).
  Fault dark = of(FaultKind::kWireLoss, us(15), us(25), {.wires = {WireId{0}}});
  dark.settings.set(Parameter::kCarrier, 1);
  CHECK(text_of(compile({link_down(us(10), us(10)), dark}, t), t) ==
        "10us wire h0:p0->p0.t0-0:d0 down fault 0\n"
        "10us wire p0.t0-0:d0->h0:p0 down fault 0\n"
        "10us carrier h0:p0 down fault 0\n"
        "10us carrier p0.t0-0:d0 down fault 0\n"
        "20us wire p0.t0-0:d0->h0:p0 up fault 0 heals\n"
        "20us carrier h0:p0 up fault 0 heals\n"
        "40us wire h0:p0->p0.t0-0:d0 up fault 1 heals\n"
        "40us carrier p0.t0-0:d0 up fault 1 heals\n");
}

TEST_CASE("of several losses on a wire the highest counts") {
  const Topology t = test::two_rows();
  // 5 % in [10, 40), 20 % in [20, 30), 1 % in [25, 50).
  CHECK(text_of(
            compile({lossy(us(10), us(30), 5), lossy(us(20), us(10), 20), lossy(us(25), us(25), 1)},
                    t),
            t) ==
        "10us loss h0:p0->p0.t0-0:d0 5% fault 0\n"
        "20us loss h0:p0->p0.t0-0:d0 20% fault 1\n"
        "30us loss h0:p0->p0.t0-0:d0 5% fault 1 heals\n"
        "40us loss h0:p0->p0.t0-0:d0 1% fault 0 heals\n"
        "50us loss h0:p0->p0.t0-0:d0 0% fault 2 heals\n");
}

TEST_CASE(
    "where one fault hands a target over to another, the effect belongs to the one that decides") {
  const Topology t = test::two_rows();
  // Worse from 20 on: the second fault begins. Better from 20 on: the first one ends.
  CHECK(text_of(compile({lossy(us(10), us(10), 5), lossy(us(20), us(10), 20)}, t), t) ==
        "10us loss h0:p0->p0.t0-0:d0 5% fault 0\n"
        "20us loss h0:p0->p0.t0-0:d0 20% fault 1\n"
        "30us loss h0:p0->p0.t0-0:d0 0% fault 1 heals\n");
  CHECK(text_of(compile({lossy(us(20), us(10), 5), lossy(us(10), us(10), 20)}, t), t) ==
        "10us loss h0:p0->p0.t0-0:d0 20% fault 1\n"
        "20us loss h0:p0->p0.t0-0:d0 5% fault 1 heals\n"
        "30us loss h0:p0->p0.t0-0:d0 0% fault 0 heals\n");
}

TEST_CASE("the tracker says what is degraded at an instant, and when a fault is healed") {
  const Topology t = test::two_rows();
  const std::vector<Fault> faults{link_down(us(10), us(10)), lossy(us(15), us(25), 20),
                                  link_down(us(35), FabricTime::never(), LinkId{1})};
  const auto schedule = compile(faults, t);
  CHECK(replay(schedule, us(9)).degraded_targets().empty());
  const FaultState at_17 = replay(schedule, us(17));
  REQUIRE(at_17.degraded_targets().size() == 5);
  CHECK(is_degraded(at_17, WireState{WireId{0}}));
  CHECK(is_degraded(at_17, random_loss(WireId{0}, {})));
  CHECK_FALSE(is_degraded(at_17, random_loss(WireId{1}, {})));
  CHECK_FALSE(is_healed(faults[0], t, at_17));
  const FaultState at_20 = replay(schedule, us(20));
  CHECK(is_healed(faults[0], t, at_20));
  CHECK_FALSE(is_healed(faults[1], t, at_20));
  CHECK(is_healed(faults[2], t, at_20));  // has not begun
  const FaultState last = replay(schedule);
  CHECK(is_healed(faults[1], t, last));
  CHECK_FALSE(is_healed(faults[2], t, last));
  CHECK(last.degraded_targets().size() == 4);
}

TEST_CASE("a fault is not healed while another one holds what it broke") {
  const Topology t = test::two_rows();
  const std::vector<Fault> faults{link_down(us(10), us(5)), link_down(us(12), us(20))};
  const auto schedule = compile(faults, t);
  CHECK_FALSE(is_healed(faults[0], t, replay(schedule, us(20))));
  CHECK(is_healed(faults[0], t, replay(schedule, us(32))));
}

TEST_CASE("whatever overlaps, the compiled state equals the union of the holds at every instant") {
  const Topology t = test::two_rows();
  uint64_t state = 99;
  const auto next = [&](uint64_t bound) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % bound;
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Fault> faults;
    for (int i = 0; i < 6; ++i) {
      const FabricTime at = us(static_cast<int64_t>(next(20)));
      const FabricTime duration =
          next(8) == 0 ? FabricTime::never() : us(1 + static_cast<int64_t>(next(10)));
      if (next(2) == 0) {
        faults.push_back(link_down(at, duration, LinkId{static_cast<uint32_t>(next(2))}));
      } else {
        faults.push_back(lossy(at, duration, 1 + static_cast<uint32_t>(next(3))));
      }
    }
    const auto schedule = compile(faults, t);
    for (int64_t now = 0; now < 35; ++now) {
      std::map<Target, Effect> expected;
      for (const Fault& fault : faults) {
        for (const Hold& hold : holds_of(fault, t)) {
          if (hold.from > us(now) || hold.until <= us(now)) continue;
          Effect& worst = expected.try_emplace(target_of(hold.effect), hold.effect).first->second;
          const auto* loss = std::get_if<WireLoss>(&hold.effect);
          if (loss && loss->loss > std::get<WireLoss>(worst).loss) worst = *loss;
        }
      }
      const FaultState compiled = replay(schedule, us(now));
      std::vector<Effect> wanted;
      for (const auto& [target, effect] : expected) wanted.push_back(effect);
      REQUIRE(compiled.degraded_targets() == wanted);
    }
  }
}

TEST_CASE("a path is allowed again when the last denylist that names it ends, and then exactly") {
  const Topology t = test::two_rows();
  const auto deny = [](FabricTime at, FabricTime duration, std::vector<NodeId> toward) {
    return of(FaultKind::kDenylist, at, duration,
              {.nodes = {NodeId{0}}, .evs = {ev_of({1, 0})}, .toward = std::move(toward)});
  };
  const std::vector<Fault> faults{deny(us(10), us(10), {}), deny(us(15), us(15), {}),
                                  deny(us(12), us(4), {NodeId{1}})};
  const auto schedule = compile(faults, t);
  CHECK(text_of(schedule, t) ==
        "10us h0 p1/u0 denied fault 0\n"
        "12us h0 p1/u0 toward h1 denied fault 2\n"
        "16us h0 p1/u0 toward h1 allowed fault 2 heals\n"
        "30us h0 p1/u0 allowed fault 1 heals\n");
  CHECK(!is_healed(faults[1], t, replay(schedule, us(29))));
  CHECK(is_healed(faults[1], t, replay(schedule)));
  CHECK(replay(schedule).degraded_targets().empty());
}

TEST_CASE("of two states of a switch the worse counts, and a burst is no state") {
  const Topology t = test::octet();
  const NodeId node = t.t1(0, 0);
  Fault burst = of(FaultKind::kIncast, us(12), FabricTime::never(),
                   {.nodes = {NodeId{1}}, .toward = {NodeId{0}}});
  burst.settings.set(Parameter::kSize, 4096);
  const auto schedule =
      compile({of(FaultKind::kSwitchHang, us(10), us(30), {.nodes = {node}}),
               of(FaultKind::kSwitchCrash, us(15), us(10), {.nodes = {node}}), burst},
              t);
  std::string states;
  for (const ScheduledEffect& e : schedule) {
    if (std::holds_alternative<SwitchState>(e.effect)) {
      states += exact(e.at) + " " + describe(t, e.effect) + (e.heals ? " heals\n" : "\n");
    }
    if (std::holds_alternative<HostBurst>(e.effect)) states += exact(e.at) + " burst\n";
  }
  CHECK(states ==
        "10us switch_state p0.t1-0 work=hung\n"
        "12us burst\n"
        "15us switch_state p0.t1-0 work=down\n"
        "25us switch_state p0.t1-0 work=hung heals\n"
        "40us switch_state p0.t1-0 as built heals\n");
  CHECK(replay(schedule).degraded_targets().empty());
}

TEST_CASE(
    "a stall is worse than a slow receiver, a slower one worse than a faster, and all is undone") {
  const Topology t = test::octet();
  const auto slow = [&](FabricTime at, FabricTime duration, Parameter how, int64_t value) {
    Fault fault = of(FaultKind::kSlowReceiver, at, duration, {.nodes = {NodeId{3}}});
    fault.settings.set(how, value);
    return fault;
  };
  const auto schedule = compile({slow(us(10), us(50), Parameter::kShare, Probability::kOne / 4),
                                 slow(us(20), us(10), Parameter::kTo, 100'000'000'000),
                                 of(FaultKind::kPcieStall, us(25), us(20), {.nodes = {NodeId{3}}})},
                                t);
  std::string states;
  for (const ScheduledEffect& e : schedule) {
    states += exact(e.at) + " " + describe(t, e.effect) + (e.heals ? " heals\n" : "\n");
  }
  CHECK(states ==
        "10us host_drain h3 kind=slow rate=200Gb/s\n"
        "20us host_drain h3 kind=slow rate=100Gb/s\n"
        "25us host_drain h3 kind=stalled\n"
        "45us host_drain h3 kind=slow rate=200Gb/s heals\n"
        "60us host_drain h3 as built heals\n");
  CHECK(replay(schedule).degraded_targets().empty());
}

TEST_CASE("the losses of one entropy value lie beside that of all frames") {
  const Topology t = test::octet();
  Fault one = of(FaultKind::kLossyEv, us(10), us(10),
                 {.nodes = {NodeId{0}}, .evs = {ev_of({0, 0}), ev_of({0, 1})}});
  one.settings.set(Parameter::kLoss, 200'000'000);
  const auto schedule = compile({one, lossy(us(12), us(2), 5)}, t);
  CHECK(replay(schedule, us(13)).degraded_targets().size() == 3);
  CHECK(replay(schedule, us(15)).degraded_targets().size() == 2);
  CHECK(replay(schedule).degraded_targets().empty());
}

TEST_CASE("a schedule that forgets what is settled has the same states and the same future") {
  const Topology t = test::octet();
  const auto key = [](const ScheduledEffect& e) {
    return std::pair{e.at, to_text({e.at, e.effect})};
  };
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    std::vector<Fault> faults = draw_faults(t, {seed, us(10), us(400), {0, 1, 2, 3}}).faults;
    const std::vector<ScheduledEffect> whole = compile(faults, t);
    std::vector<ScheduledEffect> kept = whole;
    for (FabricTime settled = us(20); settled < us(440); settled += us(37)) {
      CAPTURE(settled.ps());
      // As a lab does it: what is over goes, and what it had a part in stays as it was.
      std::erase_if(faults,
                    [&](const Fault& fault) { return interval_of(fault, t).last_heal <= settled; });
      std::vector<ScheduledEffect> next = still_in_force(kept, settled);
      CHECK(replay(next).degraded_targets() == replay(whole, settled).degraded_targets());
      for (const ScheduledEffect& effect : compile(faults, t)) {
        if (effect.at > settled) next.push_back(effect);
      }
      kept = next;
      std::vector<std::pair<FabricTime, std::string>> future, expected;
      for (const auto& e : kept) {
        if (e.at > settled) future.push_back(key(e));
      }
      for (const auto& e : whole) {
        if (e.at > settled) expected.push_back(key(e));
      }
      CHECK(future == expected);
    }
    CHECK(kept.empty());
  }
}
