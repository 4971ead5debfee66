#include "analysis/mapper/ev_samples.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/history/path_wires.h"
#include "fabric/paths/path_list.h"

namespace mrclab::analysis {
namespace {

class EvReader {
 public:
  EvReader(const Topology& topology, const EventHistory& events, FabricTime period)
      : topology_(topology), events_(events), period_(period), lag_(noticed_after(topology)) {}

  EvSamples read() {
    for (const PathNews& news : events_.paths()) read_news(news);
    for (const WindowNews& news : events_.windows()) {
      const NodeSite& peer = topology_.node(news.said.peer);
      if (peer.role == NodeRole::kHost)
        sends_.insert({period_at(news.said.t), news.host, peer.index});
    }
    for (const Loss& loss : losses_) {
      if (!is_common(loss)) add(loss.t, loss.pair, loss.ev, true);
    }
    add_goods();
    std::stable_sort(result_.samples.begin(), result_.samples.end());
    return std::move(result_);
  }

 private:
  using Pair = std::pair<uint32_t, uint32_t>;  // host and peer
  struct Loss {
    FabricTime t;
    Pair pair;
    uint32_t plane;
    EntropyValue ev;
  };

  int64_t period_at(FabricTime t) const { return (std::max(t, lag_) - lag_).ps() / period_.ps(); }

  void read_news(const PathNews& news) {
    if (!news.ev) {
      // A plane without ports has no values that could be good.
      if (news.usable) return;
      out_.insert({period_at(news.t), news.host, news.plane});
      return;
    }
    if (!news.peer) return;
    const Pair pair{news.host, *news.peer};
    auto& bad = bad_[{pair, news.ev->value}];
    if (news.usable) {
      if (!bad.empty() && bad.back().second == INT64_MAX) bad.back().second = period_at(news.t);
      return;
    }
    bad.emplace_back(period_at(news.t), INT64_MAX);
    if (news.word != PathWord::kAssumedBad) return;
    ++result_.events;
    losses_.push_back({news.t, pair, news.plane, *news.ev});
    planes_lost_[{period_at(news.t), pair}].insert(news.plane);
  }

  /// Most planes of the pair lost values about then.
  bool is_common(const Loss& loss) const {
    std::set<uint32_t> planes;
    const int64_t at = period_at(loss.t);
    for (int64_t near = at - 1; near <= at + 1; ++near) {
      const auto found = planes_lost_.find({near, loss.pair});
      if (found != planes_lost_.end()) planes.insert(found->second.begin(), found->second.end());
    }
    return planes.size() > 1 && planes.size() * 2 > topology_.planes;
  }

  bool is_bad(Pair pair, EntropyValue ev, int64_t period) const {
    const auto found = bad_.find({pair, ev.value});
    if (found == bad_.end()) return false;
    return std::any_of(found->second.begin(), found->second.end(), [&](const auto& span) {
      return span.first <= period && period <= span.second;
    });
  }

  /// Adds the values that stayed good, of pairs that sent in a period in which some value was lost. A search looks at the
  /// time between losses alone, so they have the instant of the pair's first loss in the period, or else of any pair's.
  void add_goods() {
    std::map<int64_t, FabricTime> first;
    std::map<std::pair<int64_t, Pair>, FabricTime> own;
    for (const Loss& loss : losses_) {
      first.try_emplace(period_at(loss.t), loss.t);
      own.try_emplace({period_at(loss.t), loss.pair}, loss.t);
    }
    for (const auto& [period, host, peer] : sends_) {
      const auto any = first.find(period);
      if (any == first.end()) continue;
      const Pair pair{host, peer};
      const auto its = own.find({period, pair});
      const FabricTime t = its == own.end() ? any->second : its->second;
      for (const Path path : paths_between(topology_, host, peer)) {
        const EntropyValue ev = ev_of(path);
        if (!out_.contains({period, host, path.plane}) && !is_bad(pair, ev, period))
          add(t, pair, ev, false);
      }
    }
  }

  void add(FabricTime t, Pair pair, EntropyValue ev, bool bad) {
    if (result_.samples.size() >= kMostEvSamples) return;
    const auto path = built_path(topology_, pair.first, pair.second, ev);
    if (!path) return;
    const auto wires = wires_of(topology_, pair.first, pair.second, *path);
    if (wires.size() > kMaxWires) return;
    BlameSample sample;
    sample.t = std::max(t, lag_) - lag_;
    sample.source = pair.first;
    sample.destination = pair.second;
    sample.ev = ev;
    for (const WireId wire : wires) {
      sample.suspects |= static_cast<uint8_t>(1u << sample.wire_count);
      sample.wires[sample.wire_count++] = wire;
    }
    sample.bad = bad;
    result_.samples.push_back(sample);
  }

  const Topology& topology_;
  const EventHistory& events_;
  const FabricTime period_, lag_;
  EvSamples result_;
  std::vector<Loss> losses_;
  std::map<std::pair<int64_t, Pair>, std::set<uint32_t>> planes_lost_;
  std::map<std::pair<Pair, uint32_t>, std::vector<std::pair<int64_t, int64_t>>> bad_;
  std::set<std::tuple<int64_t, uint32_t, uint32_t>> sends_;  // period, host, peer
  std::set<std::tuple<int64_t, uint32_t, uint32_t>> out_;    // period, host, plane
};

}  // namespace

FabricTime noticed_after(const Topology& topology) { return topology.base_rtt; }

EvSamples ev_samples(const Topology& topology, const EventHistory& events, FabricTime period) {
  return EvReader(topology, events, period).read();
}

}  // namespace mrclab::analysis
