#pragma once
// Do two recordings show the same?

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "session/branch.h"

namespace mrclab::test {

inline bool same_event(const lab::SeenEvent& a, const lab::SeenEvent& b) {
  return a.t == b.t && a.node == b.node && a.kind == b.kind && a.port == b.port && a.qp == b.qp &&
         a.ev == b.ev && a.psn == b.psn && a.cause == b.cause && a.detail == b.detail;
}

inline bool same_window(const lab::SeenWindow& a, const lab::SeenWindow& b) {
  return a.host == b.host && a.record == b.record;
}

/// Events and windows of different nodes at one instant come in no order.
template <class List, class Same>
bool same_at_each_instant(const List& a, const List& b, const Same& same) {
  return std::is_permutation(a.begin(), a.end(), b.begin(), b.end(), same);
}

inline std::string text_of(const lab::SeenPacket& packet) {
  return fmt::format(
      "{} wire {} qp {} psn {} ev {} waited {} flags {} event {} opcode {} hosts {} {}",
      to_string(packet.t), packet.wire.value, packet.qp.value, packet.psn.value(), packet.ev.value,
      packet.waited_ns, packet.flags, static_cast<int>(packet.event), packet.opcode, packet.source,
      packet.destination);
}

/// Compares what is complete before `until`.
inline void check_same(const lab::Recording& a, const lab::Recording& b, FabricTime until) {
  REQUIRE(a.bin() == b.bin());
  const size_t bins = std::min(a.complete_bins(), b.complete_bins());
  size_t packets = 0;
  for (size_t bin = 0; bin < bins; ++bin) {
    CAPTURE(bin);
    const auto of_a = a.packets(bin), of_b = b.packets(bin);
    packets += of_a.size();
    const auto [at_a, at_b] = std::mismatch(of_a.begin(), of_a.end(), of_b.begin(), of_b.end());
    if (at_a != of_a.end() || at_b != of_b.end()) {
      FAIL("packet " << at_a - of_a.begin() << " of " << of_a.size() << " and " << of_b.size()
                     << " is " << (at_a == of_a.end() ? "none" : text_of(*at_a)) << ", and "
                     << (at_b == of_b.end() ? "none" : text_of(*at_b)));
    }
    const auto wires_a = a.wires(bin), wires_b = b.wires(bin);
    REQUIRE(std::equal(wires_a.begin(), wires_a.end(), wires_b.begin(), wires_b.end()));
    const auto planes_a = a.planes(bin), planes_b = b.planes(bin);
    REQUIRE(std::equal(planes_a.begin(), planes_a.end(), planes_b.begin(), planes_b.end()));
  }
  CHECK(packets > 0);
  const auto until_there = [until](const auto& list, const auto& time_of) {
    return list.first(static_cast<size_t>(std::count_if(
        list.begin(), list.end(), [&](const auto& x) { return time_of(x) < until; })));
  };
  const auto event_time = [](const lab::SeenEvent& event) { return event.t; };
  const auto window_time = [](const lab::SeenWindow& window) { return window.record.t; };
  CHECK(same_at_each_instant(until_there(a.events(), event_time),
                             until_there(b.events(), event_time), same_event));
  CHECK(same_at_each_instant(until_there(a.windows(), window_time),
                             until_there(b.windows(), window_time), same_window));
}

}  // namespace mrclab::test
