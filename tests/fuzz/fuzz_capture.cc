// Any bytes as a capture file: records, skips or an error, and what is made of the records (packet
// histories, measurements, a verdict) holds together.

#include "analysis/capture/open_capture.h"
#include "analysis/checks/checks.h"
#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "analysis/judge/analyze.h"
#include "analysis/report/report.h"
#include "tests/fuzz/must.h"
#include "tests/support/fabrics.h"
#include "tests/support/one_of_each.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

void check_history(const PacketHistory& history) {
  MUST(history.deliveries().size() <= history.packets().size());
  FabricTime last;
  for (const Delivery& d : history.deliveries()) {
    MUST(d.t >= last && d.packet < history.packets().size());
    MUST(history.packets()[d.packet].delivered == d.t);
    last = d.t;
  }
  for (const Attempt& t : history.attempts()) {
    MUST(t.packet < history.packets().size());
    MUST((t.fate == Fate::kInFlight) == (t.ended == FabricTime::never()));
    MUST(t.attempt > 0 || t.previous == Attempt::kNone);
  }
  for (const Packet& p : history.packets()) MUST(p.flow < history.flows().size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Topology topology = test::two_rows();
  SightingReader frames(topology);
  try {
    const auto reader = capture_in_memory({data, size});
    frames.add(*reader);
  } catch (const CaptureError&) {
  }
  const PacketHistory history = join_sightings(topology, frames.take());
  check_history(history);
  FaultSpan fault;
  fault.start = FabricTime::from_us(20);
  const std::array links{LinkId{0}};
  fault.impairments = impairments_of_links(topology, links, fault.start, FabricTime::from_us(40));
  const Measurements m = measure(topology, history, std::span{&fault, 1}, FabricTime::from_us(1),
                                 FabricTime::from_us(100));
  const std::vector<Expectation> expectations = test::one_of_each();
  const HostReports hosts;
  const Evidence evidence(topology, {}, FabricTime::from_us(100));
  MUST(run_checks(expectations, {topology,
                                 history,
                                 m,
                                 std::span{&fault, 1},
                                 hosts,
                                 evidence,
                                 {},
                                 {},
                                 FabricTime::from_us(100),
                                 FabricTime::from_us(100),
                                 evidence.coverage()})
           .size() == expectations.size());
  return 0;
}
