#include "job/measure/collective_measure.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mrclab::job {

BitRate bus_bandwidth(Collective collective, uint32_t ranks, uint64_t bytes, FabricTime time) {
  uint64_t others = 0;  // of a factor others / ranks
  switch (collective) {
    case Collective::kAllReduce: others = 2 * (uint64_t{ranks} - 1); break;
    case Collective::kReduceScatter:
    case Collective::kAllGather:
    case Collective::kAllToAll: others = uint64_t{ranks} - 1; break;
    case Collective::kBroadcast: others = ranks; break;
    case Collective::kBarrier: return {0};
  }
  if (time <= FabricTime::zero() || ranks == 0) return {0};
  constexpr uint64_t kMost = uint64_t{1} << 62;
  // bytes < 2^53 and kBytePs < 2^43: with a factor of less than 2^32 the product fits into 128 bits.
  const auto rate = static_cast<unsigned __int128>(bytes) * kBytePs / ranks * others /
                    static_cast<uint64_t>(time.ps());
  return {static_cast<uint64_t>(std::min<unsigned __int128>(rate, kMost))};
}

std::vector<CollectiveMeasure> measure_collectives(const PlannedJob& plan, const OpSpans& spans) {
  using Key = std::tuple<std::string, Collective, size_t, uint64_t>;
  std::map<Key, std::pair<uint64_t, std::vector<FabricTime>>> times;
  for (const CollectiveSpan& span : spans.collectives) {
    const Op& op = plan.graph.op(span.op);
    const size_t ranks = plan.graph.groups()[op.group].ranks.size();
    auto& [count, ended] = times[{exchange_group(plan, span.op), op.collective, ranks, op.bytes}];
    ++count;
    if (span.end != FabricTime::never()) ended.push_back(span.end - span.joined);
  }
  std::vector<CollectiveMeasure> list;
  for (auto& [key, counted] : times) {
    const auto& [group, collective, ranks, bytes] = key;
    CollectiveMeasure measure;
    measure.collective = collective;
    measure.group = group;
    measure.ranks = static_cast<uint32_t>(ranks);
    measure.bytes = bytes;
    measure.count = counted.first;
    measure.finished = counted.second.size();
    measure.time = spread_of(std::move(counted.second));
    measure.busbw_p50 = bus_bandwidth(collective, measure.ranks, bytes, measure.time.p50);
    measure.busbw_p99 = bus_bandwidth(collective, measure.ranks, bytes, measure.time.p99);
    list.push_back(std::move(measure));
  }
  std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
    return static_cast<unsigned __int128>(a.bytes) * a.count >
           static_cast<unsigned __int128>(b.bytes) * b.count;
  });
  return list;
}

}  // namespace mrclab::job
