#include "analysis/mapper/probe_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "fabric/probes/probe_route.h"

namespace mrclab::analysis {
namespace {

class ProbeReader {
 public:
  ProbeReader(const Topology& topology, const EventHistory& events, MapperResult& result)
      : topology_(topology),
        events_(events),
        result_(result),
        grid_(grid_of(topology)),
        period_(probe_period(topology)),
        crossed_(topology.links.size()) {
    for (const MapperNews& news : events.mapper()) {
      for (const auto& [period, name] : news.report.late) late_.insert({news.host, period, name});
    }
  }

  ProbeSamples read() {
    std::vector<bool> speaks(topology_.host_count());
    for (const MapperNews& news : events_.mapper()) {
      speaks[news.host] = true;
      note_silence(news.host, news.report.period);
      read_report(news);
    }
    const uint64_t end = last_period_ + 1;
    for (const auto& [host, next] : next_period_) note_silence(host, end);
    forgive_full_queues();
    std::stable_sort(samples_.begin(), samples_.end());
    result_.links = topology_.links.size();
    result_.probed = static_cast<uint64_t>(std::count(crossed_.begin(), crossed_.end(), true));
    return {std::move(samples_), PortLight(topology_, std::move(speaks), std::move(dark_))};
  }

 private:
  /// An agent that left out periods before this one reported no light in that time: its ports may have been dark.
  void note_silence(uint32_t host, uint64_t period) {
    uint64_t& next = next_period_[host];
    last_period_ = std::max(last_period_, period);
    if (period > next) {
      for (uint32_t plane = 0; plane < topology_.planes; ++plane) {
        dark_[{host, plane}].emplace_back(start_of(next), start_of(period));
      }
    }
    next = period + 1;
  }

  void read_report(const MapperNews& news) {
    const ProbeReport& report = news.report;
    ++result_.reports;
    result_.sent += report.sent;
    result_.slow += report.slow.size();
    result_.late += report.late.size();
    result_.marked += report.marked;
    result_.again += report.again;
    result_.forged += report.forged;
    const std::set<std::string> lost(report.lost.begin(), report.lost.end());
    const std::set<std::string> damaged(report.damaged.begin(), report.damaged.end());
    const std::set<std::string> slow(report.slow.begin(), report.slow.end());
    const std::set<std::string> unsent(report.unsent.begin(), report.unsent.end());
    note_light(news.host, report.dark, &ProbeReader::note_dark);
    note_light(news.host, report.lit, &ProbeReader::end_dark);
    for (uint32_t plane = 0; plane < topology_.planes; ++plane) {
      if (unsent.contains("p" + std::to_string(plane))) continue;
      const auto probes = probes_of(grid_, topology_.mapper, news.host, plane, report.period);
      for (const Probe& probe : probes) {
        const std::string name = to_string(probe);
        add_probe(news.host, probe, report.period, lost.contains(name), slow.contains(name),
                  damaged.contains(name));
      }
    }
  }

  /// Instants at which ports lost their light, or had it back.
  void note_light(uint32_t host, const ProbeReport::Numbered& ports,
                  void (ProbeReader::*note)(uint32_t host, uint32_t plane, FabricTime t)) {
    for (const auto& [ps, name] : ports) {
      const auto port = topology_.find_port(host_name(host) + ":" + name);
      if (port)
        (this->*note)(host, port->port.value, FabricTime::from_ps(static_cast<int64_t>(ps)));
    }
  }

  std::string host_name(uint32_t host) const { return topology_.node(topology_.host(host)).name; }
  FabricTime start_of(uint64_t period) const { return period_ * static_cast<int64_t>(period); }
  FabricTime offset(uint32_t host, uint32_t plane) const {
    return probe_offset(host, plane, period_);
  }

  void add_probe(uint32_t host, const Probe& probe, uint64_t period, bool lost, bool slow,
                 bool damaged) {
    BlameSample sample;
    sample.t = start_of(period) + offset(host, probe.plane);
    sample.source = sample.destination = host;
    sample.probe = true;
    for (const WireId wire : probe_wires(topology_, host, probe)) {
      if (sample.wire_count == kMaxWires) break;
      crossed_[topology_.wire(wire).link.value] = true;
      if (slow) slow_[wire.value].push_back(sample.t);
      sample.suspects |= static_cast<uint8_t>(1u << sample.wire_count);
      sample.wires[sample.wire_count++] = wire;
    }
    sample.bad = lost && !late_.contains({host, period, to_string(probe)});
    if (damaged) sample.clue = Clue::kInside;
    result_.lost += sample.bad ? 1 : 0;
    samples_.push_back(sample);
  }

  /// A word when the port went dark, however long it stays so.
  void note_dark(uint32_t host, uint32_t plane, FabricTime since) {
    auto& spans = dark_[{host, plane}];
    spans.emplace_back(since, FabricTime::never());
    const Port& port = topology_.port({topology_.host(host), PortId{plane}});
    BlameSample word;
    word.t = since;
    word.source = word.destination = host;
    word.wires = {port.out, port.in};
    word.wire_count = 2;
    word.suspects = 3;
    word.weight = kWeightOfWord;
    word.bad = true;
    word.clue = Clue::kDark;
    samples_.push_back(word);
  }
  void end_dark(uint32_t host, uint32_t plane, FabricTime t) {
    const auto spans = dark_.find({host, plane});
    if (spans == dark_.end()) return;
    for (auto& span : spans->second) {
      if (span.second == FabricTime::never()) span.second = t;
    }
  }

  void forgive_full_queues() {
    for (auto& [wire, times] : slow_) std::sort(times.begin(), times.end());
    for (BlameSample& sample : samples_) {
      if (!sample.bad || !sample.probe) continue;
      for (uint8_t i = 0; i < sample.wire_count; ++i) {
        const auto slow = slow_.find(sample.wires[i].value);
        if (slow == slow_.end()) continue;
        const FabricTime from = std::max(sample.t, period_) - period_;
        const auto first = std::lower_bound(slow->second.begin(), slow->second.end(), from);
        if (first == slow->second.end() || *first > sample.t + period_) continue;
        sample.bad = sample.counts = false;
      }
    }
  }

  const Topology& topology_;
  const EventHistory& events_;
  MapperResult& result_;
  const ProbeGrid grid_;
  const FabricTime period_;
  std::set<std::tuple<uint32_t, uint64_t, std::string>> late_;  // host, period, probe
  std::vector<bool> crossed_;                                   // by link
  std::unordered_map<uint32_t, std::vector<FabricTime>> slow_;  // by wire
  std::map<uint32_t, uint64_t> next_period_;                    // by host
  uint64_t last_period_ = 0;
  PortLight::DarkSpans dark_;
  std::vector<BlameSample> samples_;
};

}  // namespace

ProbeSamples probe_samples(const Topology& topology, const EventHistory& events,
                           MapperResult& result) {
  return ProbeReader(topology, events, result).read();
}

}  // namespace mrclab::analysis
