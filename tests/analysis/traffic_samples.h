#pragma once
// Packets and flows with given outcomes, for the tests of the streaming analyzer.

#include <doctest/doctest.h>

#include "analysis/traffic/traffic_reader.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/trailer.h"
#include "fabric/topology/path.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis::traffic_test {

using test::SyntheticRun;

inline constexpr Path kA{0, 0}, kB{1, 1};
inline const FabricTime kStart = FabricTime::from_us(10);

inline SyntheticRun::Sent packet(uint32_t psn, Path path, FabricTime start, bool again = false) {
  SyntheticRun::Sent s;
  s.source = 0;
  s.destination = 2;
  s.psn = psn;
  s.path = path;
  s.start = start;
  s.retransmission = again;
  return s;
}

inline Traffic traffic_of(SyntheticRun& run, TrafficFilter filter = {}) {
  return analyze_traffic(run.writer().bytes(), filter);
}

inline const TrafficFlow& only_flow(const Traffic& traffic) {
  REQUIRE(traffic.flows.size() == 1);
  return traffic.flows[0];
}

/// What a switch does to a frame.
inline void shift_carrier_of(std::vector<uint8_t>& frame) {
  Ipv6Address carrier{};
  std::copy_n(frame.begin() + kOuterOffset + 24, 16, carrier.begin());
  shift_carrier(carrier);
  std::copy_n(carrier.begin(), 16, frame.begin() + kOuterOffset + 24);
}

/// As tcpdump writes a veth of the lab: whole frames with trailer, wall-clock time, no names.
inline void add_on_veth(test::CaptureWriter& writer, std::vector<uint8_t> frame, uint64_t wall_ns,
                        FabricTime end, DropCause lost = DropCause::kNone) {
  TimeTrailer trailer;
  trailer.modelled_size = static_cast<uint32_t>(frame.size());
  trailer.start = end - FabricTime::from_ns(300);
  trailer.end = end;
  trailer.flight = FabricTime::from_ns(500);
  trailer.lost = lost;
  if (lost != DropCause::kNone) {
    FramePool pool;
    const Frame voided = make_void_frame(pool, pool.copy(frame));
    frame.assign(voided.bytes().begin(), voided.bytes().end());
  }
  std::array<uint8_t, kTrailerBytes> bytes;
  write_trailer(trailer, bytes);
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  writer.packet(0, 0, wall_ns, frame, static_cast<uint32_t>(frame.size()));
}

}  // namespace mrclab::analysis::traffic_test
