#include "session/looks/port_series.h"

#include <algorithm>
#include <cmath>

namespace mrclab::lab {
namespace {

/// What all planes did in whole windows, as the page is sent it.
struct SpanSums {
  FabricTime begin, end;
  uint64_t received = 0, lost = 0, trimmed = 0, marked = 0, again = 0;

  template <class Plane>
  void add(const Plane& plane) {
    received += plane.received;
    lost += plane.lost;
    trimmed += plane.trimmed;
    marked += plane.marked;
  }
  nlohmann::json json() const {
    const double seconds = static_cast<double>((end - begin).ps()) * 1e-12;
    const double rate = seconds > 0 ? static_cast<double>(received) * 8 / seconds : 0.0;
    return {{"from_ps", begin.ps()},
            {"to_ps", end.ps()},
            {"received_bytes", received},
            {"rate_bps", std::round(rate)},
            {"lost", lost},
            {"trimmed", trimmed},
            {"marked", marked},
            {"again", again}};
  }
};

}  // namespace

nlohmann::json wire_series(const Topology& topology, const Recording& recording, WireId wire) {
  using nlohmann::json;
  const Wire& built = topology.wire(wire);
  const QueueProfile& queues = topology.queues_of(built);
  const auto full = static_cast<double>(bytes_in(built.rate, recording.bin()).value);
  json used = json::array(), queue = json::array(), lost = json::array(), trimmed = json::array(),
       marked = json::array();
  for (size_t bin = 0; bin < recording.complete_bins(); ++bin) {
    const Recording::WireSums& sums = recording.wires(bin)[recording.part().number(wire)];
    used.push_back(full > 0 ? std::round(1000 * sums.bytes / full) / 1000 : 0.0);
    queue.push_back(sums.queue);
    lost.push_back(sums.lost);
    trimmed.push_back(sums.trimmed);
    marked.push_back(sums.marked);
  }
  return {{"rate_bps", built.rate.bps},
          {"queue_limit", (queues.trim ? queues.trim_threshold : queues.tail_drop).value},
          {"used", std::move(used)},
          {"queue", std::move(queue)},
          {"lost", std::move(lost)},
          {"trimmed", std::move(trimmed)},
          {"marked", std::move(marked)}};
}

nlohmann::json span_sums(const Recording& recording, FabricTime from, FabricTime to) {
  const size_t first = std::min(recording.bin_of(from), recording.complete_bins());
  const size_t last = std::clamp(recording.bin_of(to) + 1, first, recording.complete_bins());
  SpanSums sums{recording.bin() * static_cast<int64_t>(first),
                recording.bin() * static_cast<int64_t>(last)};
  for (size_t bin = first; bin < last; ++bin) {
    for (const Recording::PlaneSums& plane : recording.planes(bin)) {
      sums.add(plane);
      sums.again += plane.again;
    }
  }
  return sums.json();
}

nlohmann::json span_sums(const FabricTally& tally, FabricTime from, FabricTime to) {
  const size_t first = std::min(static_cast<size_t>(from / tally.window()), tally.windows());
  const size_t last =
      std::clamp(static_cast<size_t>(to / tally.window()) + 1, first, tally.windows());
  SpanSums sums{tally.window() * static_cast<int64_t>(first),
                tally.window() * static_cast<int64_t>(last)};
  for (size_t window = first; window < last; ++window) {
    for (const FabricTally::PlaneCount& plane : tally.planes(window)) sums.add(plane);
    sums.again += tally.again(window);
  }
  return sums.json();
}

}  // namespace mrclab::lab
