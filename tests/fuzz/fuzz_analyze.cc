// Any bytes as a capture, compressed or not: traffic whose numbers fit together, or an error.

#include "analysis/capture/capture_reader.h"
#include "analysis/traffic/traffic_reader.h"
#include "tests/fuzz/must.h"

using namespace mrclab;
using namespace mrclab::analysis;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const Traffic traffic = analyze_traffic({data, size});
    const TrafficCounters& c = traffic.counters;
    uint64_t packets = 0, delivered = 0;
    for (const TrafficFlow& flow : traffic.flows) {
      MUST(flow.conversation < traffic.conversations.size());
      MUST(flow.delivered + flow.duplicates <= c.data_frames);
      MUST(flow.needed + flow.needless_there + flow.needless_underway <=
           flow.resent + 1 + c.unmatched);
      packets += flow.packets + flow.resent;
      delivered += flow.delivered;
    }
    MUST(packets <= c.records);
    uint64_t of_paths = 0;
    for (const FlowPath& path : traffic.paths) {
      MUST(path.flow < traffic.flows.size() && path.plane < kFirstClass + kMaxClasses);
      of_paths += path.delivered;
    }
    MUST(of_paths == delivered);
    for (size_t i = 1; i < traffic.changes.size(); ++i) {
      MUST(traffic.changes[i - 1].t <= traffic.changes[i].t);
    }
  } catch (const CaptureError&) {
  }
  return 0;
}
