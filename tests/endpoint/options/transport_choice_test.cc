#include "endpoint/options/transport_choice.h"

#include <doctest/doctest.h>

#include "endpoint/options/profile_maker.h"
#include "endpoint/queue_pair/retry_state.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

TransportChoice choice_in(const std::string& text) {
  return parse_transport(
      read_yaml_text("t: " + text, "f.yaml").with_rtt(FabricTime::from_us(11)).require("t"),
      test::octet());
}

std::string choice_error(const std::string& text) {
  return test::error_of([&] { choice_in(text); });
}

}  // namespace

TEST_CASE("the options of a choice replace the values of its profile, and only those") {
  const Topology t = test::octet();
  const TransportChoice choice =
      choice_in("{evs: 16, active_evs: 8, ack_timeout: 3rtt, icrc: off}");
  const TransportProfile plain = make_profile("lab", t);
  const TransportProfile changed = make_profile(choice, t);
  CHECK(changed.ev_limit == 16);
  CHECK(changed.active_evs == 8);
  CHECK(changed.ack_timeout == FabricTime::from_us(33));
  CHECK_FALSE(changed.icrc);
  CHECK(changed.window_percent == plain.window_percent);
  CHECK(changed.reorder_window == plain.reorder_window);
  CHECK(make_profile(choice_in("{window_percent: 80}"), t).window_percent == 80);
  CHECK(make_profile(choice_in("{ev_min_active: 7}"), t).ev_min_active == 7);
  CHECK(make_profile(choice_in("{ev_min_active: 50%}"), t).ev_min_active == 0);
  CHECK(make_profile(choice_in("{ev_min_active: 50%}"), t).ev_min_active_share.ppb == 500'000'000);
}

TEST_CASE(
    "under production a dead queue pair outlives a NIC's remapping, and fails within a flap") {
  const TransportProfile p = make_profile("production", test::octet());
  CHECK(p.ack_timeout == FabricTime::from_ns(262'144));  // MRC API: 1.024 us x 2^8
  CHECK(p.linear_retries == 7);
  CHECK(p.reverse_probe_interval == p.base_rtt);  // MRC paper, section 2.4
  RetryState retry({p.ack_timeout, p.linear_retries, p.exponential_retries});
  FabricTime span;
  uint32_t timeouts = 0;
  do {
    span += retry.timeout();
    REQUIRE(++timeouts < 100);
  } while (retry.count_retry());
  CHECK(span > FabricTime::from_ms(1600));  // MRC paper, figure 9a
  CHECK(span < FabricTime::from_ms(8000));  // figure 6
}

TEST_CASE("a NIC finds losses no sooner than its profile says, unless an option does") {
  const Topology ideal = test::octet();
  Topology slow = ideal;
  slow.nic = pollara_profile(1);
  const TransportProfile lab = make_profile("lab", ideal), nic = make_profile("lab", slow);
  CHECK(nic.tail_probe == slow.nic.losses.tail_probe);
  CHECK(nic.reorder_window == slow.nic.losses.reorder_window);
  CHECK(nic.reorder_window_max >= nic.reorder_window);
  CHECK(nic.ack_timeout == slow.nic.losses.ack_timeout);
  CHECK(nic.exponential_retries == slow.nic.losses.exponential_retries);
  CHECK(nic.probe_interval == lab.probe_interval);
  CHECK(make_profile(choice_in("{tail_probe: 1us}"), slow).tail_probe == FabricTime::from_us(1));
  // Divided so far that it would be faster than the transport, it is as fast as that.
  slow.nic = pollara_profile(1'000'000);
  CHECK(make_profile("lab", slow).tail_probe == lab.tail_probe);
  CHECK(make_profile("lab", slow).ack_timeout == lab.ack_timeout);
}

TEST_CASE("by what losses are found is written with the NIC's and the transport's profile") {
  Topology t = test::octet();
  CHECK(loss_timers_text(choice_in("lab"), t, true, false) ==
        "NIC ideal, transport lab: reorder window " +
            to_string(make_profile("lab", t).reorder_window) + ", tail probe " +
            to_string(make_profile("lab", t).tail_probe) + ", ACK timeout " +
            to_string(make_profile("lab", t).ack_timeout));
  t.nic = cx8_profile(1);
  const std::string both = loss_timers_text(choice_in("{rc_ack_timeout: 16ms}"), t, true, true);
  CHECK(both.find("NIC cx8, transport lab: reorder window ") == 0);
  CHECK(both.find("; RC's ACK timeout 16ms") != std::string::npos);
  CHECK(loss_timers_text(choice_in("{rc_ack_timeout: 16ms}"), t, false, true) ==
        "NIC cx8, transport lab: RC's ACK timeout 16ms");
}

TEST_CASE("a choice written as text reads back as the same choice") {
  for (const char* text : {"lab", "production", "{profile: lab}",
                           "{active_evs: 16, window_percent: 90, ack_timeout: 3rtt, icrc: on}",
                           "{ev_min_active: 7}", "{ev_min_active: 12.5%}"}) {
    CHECK(choice_in(to_yaml(choice_in(text))) == choice_in(text));
  }
}

TEST_CASE("bad transports get an exact error") {
  CHECK(choice_error("lap") == "f.yaml:1:4: found \"lap\": expected \"lab\"");
  CHECK(choice_error("{profil: lab}") ==
        "f.yaml:1:5: found the key \"profil\": expected \"profile\"");
  CHECK(choice_error("{active_evs: 0}") ==
        "f.yaml:1:17: found \"0\": expected a whole number from 1 to 4096");
  CHECK(choice_error("{ack_timeout: 0us}") ==
        "f.yaml:1:18: found \"0us\": expected a duration above 0");
}

TEST_CASE("every transport option has a name of its own and a line that says what it is") {
  std::vector<std::string_view> names;
  for (const TransportOption& option : transport_options()) {
    CHECK(std::find(names.begin(), names.end(), option.name) == names.end());
    CHECK(option.about.size() > 10);
    names.push_back(option.name);
  }
}
