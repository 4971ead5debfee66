#include "scenario/import/incident_import.h"

#include <algorithm>
#include <set>

#include "faults/fault.h"

namespace mrclab::lab {
namespace {

constexpr int64_t kPsPerNs = 1000;
/// Before the first fault: time to start, and 20 RTT of baseline.
constexpr int64_t kLeadInRtts = 27;
/// After the last: probes are up to 32 RTT apart, and three of them bring a path back.
constexpr int64_t kTailRtts = 100;
/// `auto` makes the events fit into this, as long as the shortest outage can be noticed...
constexpr int64_t kWantedSpanPs = 1'000'000'000;
/// ...and in any case into this: longer runs take minutes to simulate.
constexpr int64_t kLongestSpanPs = 20'000'000'000;
constexpr uint64_t kMaxCompress = 1'000'000'000'000'000;

/// An event about a port of the fabric.
struct PortEvent {
  const LinkEvent* event;
  PortRef port;
  int64_t ns;
};

std::vector<PortEvent> known_events(const LinkLog& log, const PortMap& ports, bool skip_unknown,
                                    ImportedIncident& out) {
  std::map<std::string, std::optional<PortRef>> found;
  std::vector<PortEvent> events;
  const LinkEvent* before = nullptr;
  for (const LinkEvent& event : log.events) {
    if (before && event.time.ns < before->time.ns) ++out.unsorted;
    before = &event;
    auto place = found.find(event.port);
    if (place == found.end()) place = found.emplace(event.port, ports.find(event.port)).first;
    if (place->second) {
      events.push_back({&event, *place->second, event.time.ns});
    } else {
      ++out.unknown[event.port];
    }
  }
  if (!out.unknown.empty() && (!skip_unknown || events.empty())) {
    const auto& [port, count] = *out.unknown.begin();
    throw InputError("the map lacks " + std::to_string(out.unknown.size()) +
                     " ports of the log, the first being " + in_quotes(port) + " with " +
                     std::to_string(count) + " events: expected an entry for each" +
                     (events.empty() ? "" : ", or --skip-unknown"));
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const PortEvent& a, const PortEvent& b) { return a.ns < b.ns; });
  return events;
}

/// Events of a port within one tick of the log's clock happened in their order within it: spread
/// evenly, as the log has no finer time.
void spread_ticks(std::vector<PortEvent>& events, ImportedIncident& out) {
  std::map<PortRef, std::vector<PortEvent*>> same;  // events of the same instant
  const auto spread = [&] {
    for (auto& [port, list] : same) {
      if (list.size() > 1) out.within_a_tick += list.size();
      const int64_t step = list.front()->event->time.resolution / static_cast<int64_t>(list.size());
      for (size_t i = 0; i < list.size(); ++i) list[i]->ns += step * static_cast<int64_t>(i);
    }
    same.clear();
  };
  int64_t instant = 0;
  for (PortEvent& event : events) {
    if (!same.empty() && event.ns != instant) spread();
    instant = event.ns;
    same[event.port].push_back(&event);
  }
  spread();
  std::stable_sort(events.begin(), events.end(),
                   [](const PortEvent& a, const PortEvent& b) { return a.ns < b.ns; });
}

/// Events to outages. A link is down while the log of one of its ends reports it down; a port has errors
/// until its log reports another state.
class Pairing {
 public:
  Pairing(const Topology& topology, ImportedIncident& out) : topology_(topology), out_(out) {}

  void take(const PortEvent& event) {
    const auto errors = errors_.find(event.port);
    const bool had_errors = errors != errors_.end();
    if (had_errors) {
      out_.outages[errors->second].until = event.ns;
      errors_.erase(errors);
    }
    switch (event.event->kind) {
      case LinkEventKind::kErrors:
        if (event.event->rate != "0") errors_[event.port] = open(event);
        break;
      case LinkEventKind::kDown: down(event); break;
      case LinkEventKind::kUp: up(event, had_errors); break;
    }
  }

 private:
  struct Link {
    std::set<PortRef> down;  ///< ends that report it down
    size_t outage = 0;
  };

  size_t open(const PortEvent& event) {
    if (out_.outages.size() >= faults::kMaxFaults) {
      throw InputError("found more outages: expected at most " +
                       std::to_string(faults::kMaxFaults) + ", or a part of the log");
    }
    ImportedOutage outage;
    outage.kind = event.event->kind;
    outage.port = event.port;
    outage.rate = event.event->rate;
    outage.from = event.ns;
    out_.outages.push_back(outage);
    return out_.outages.size() - 1;
  }

  void down(const PortEvent& event) {
    Link& link = links_[topology_.port(event.port).link];
    if (link.down.empty()) link.outage = open(event);
    if (!link.down.insert(event.port).second) ++out_.doubled;
  }

  void up(const PortEvent& event, bool had_errors) {
    Link& link = links_[topology_.port(event.port).link];
    if (link.down.erase(event.port) == 0) {
      out_.ups_alone += had_errors ? 0 : 1;
    } else if (link.down.empty()) {
      out_.outages[link.outage].until = event.ns;
    }
  }

  const Topology& topology_;
  ImportedIncident& out_;
  std::map<LinkId, Link> links_;
  std::map<PortRef, size_t> errors_;
};

/// Instants of the log at which something breaks (+1) or is healed (-1), in order.
std::vector<std::pair<int64_t, int>> changes_of(const std::vector<ImportedOutage>& outages) {
  std::vector<std::pair<int64_t, int>> changes;
  for (const ImportedOutage& outage : outages) {
    changes.emplace_back(outage.from, 1);
    if (outage.until) changes.emplace_back(*outage.until, -1);
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

/// Two digits are enough for a factor that people read.
uint64_t two_digits(uint64_t value, bool up) {
  uint64_t unit = 1;
  while (value / unit >= 100) unit *= 10;
  return (value / unit + (up && value % unit != 0)) * unit;
}

/// ns of the log during which something is broken, or all of it.
int64_t span_ns(const std::vector<std::pair<int64_t, int>>& changes, bool broken_only) {
  int64_t total = 0, open = 0;
  for (size_t i = 0; i + 1 < changes.size(); ++i) {
    open += changes[i].second;
    if (open > 0 || !broken_only) total += changes[i + 1].first - changes[i].first;
  }
  return total;
}

uint64_t choose_compress(const ImportedIncident& in, const ImportOptions& options, FabricTime rtt) {
  if (options.compress) return *options.compress;
  const int64_t span = span_ns(changes_of(in.outages), options.quiet.has_value());
  const auto to_fit = [&](int64_t ps) {
    return two_digits(static_cast<uint64_t>(std::max<int64_t>(1, ceil_div(span, ps / kPsPerNs))),
                      true);
  };
  const uint64_t wanted = to_fit(kWantedSpanPs);
  if (!in.shortest_ns) return wanted;
  const int64_t noticed_ns = rtt.ps() * kShortestOutageRtts / kPsPerNs + 1;
  const auto keeps = static_cast<uint64_t>(std::max<int64_t>(1, *in.shortest_ns / noticed_ns));
  return std::max(to_fit(kLongestSpanPs), std::min(wanted, two_digits(keeps, false)));
}

/// Fabric time of the log's instants.
class Compression {
 public:
  Compression(ImportedIncident& in, const ImportOptions& options, FabricTime start)
      : compress_(in.compress), start_(start) {
    int open = 0;
    int64_t before = 0;
    for (const auto& [ns, change] : changes_of(in.outages)) {
      const FabricTime gap = compressed(ns) - compressed(before);
      if (open == 0 && options.quiet && gap > *options.quiet) removed_ += gap - *options.quiet;
      removed_at_[ns] = removed_;
      open += change;
      before = ns;
    }
    in.quiet_removed = removed_;
  }
  /// The fabric time of a change in the log.
  FabricTime at(int64_t ns) const { return start_ + compressed(ns) - removed_at_.at(ns); }

 private:
  FabricTime compressed(int64_t ns) const {
    const auto ps = static_cast<__int128>(ns) * kPsPerNs / compress_;
    if (ps > INT64_MAX / 4) throw InputError("--compress: found a run of months: expected more");
    return FabricTime::from_ps(static_cast<int64_t>(ps));
  }

  uint64_t compress_;
  FabricTime start_;
  FabricTime removed_;
  std::map<int64_t, FabricTime> removed_at_;
};

FabricTime whole_us(FabricTime time) {
  constexpr int64_t kPsPerUs = 1'000'000;
  return FabricTime::from_ps(ceil_div(time.ps(), kPsPerUs) * kPsPerUs);
}

void compress_time(ImportedIncident& in, const ImportOptions& options, FabricTime rtt) {
  in.compress = choose_compress(in, options, rtt);
  if (in.compress < 1 || in.compress > kMaxCompress) {
    throw InputError("--compress: expected a number from 1 to " + std::to_string(kMaxCompress));
  }
  const Compression time(in, options, options.first.value_or(whole_us(rtt * kLeadInRtts)));
  in.shortest = FabricTime::never();
  for (ImportedOutage& outage : in.outages) {
    outage.at = time.at(outage.from);
    FabricTime last = outage.at;
    if (outage.until) {
      // An outage that the compression makes nothing of is still one.
      last = std::max(time.at(*outage.until), outage.at + FabricTime::from_ps(1));
      outage.duration = last - outage.at;
      in.shortest = std::min(in.shortest, outage.duration);
    }
    in.end = std::max(in.end, last);
  }
  in.end = whole_us(in.end + rtt * kTailRtts);
}

/// Is there an instant at which no port of some host has a link?
bool cuts_off_a_host(const ImportedIncident& in, const Topology& topology) {
  std::vector<std::tuple<int64_t, int, uint32_t>> changes;
  for (const ImportedOutage& outage : in.outages) {
    if (outage.kind != LinkEventKind::kDown) continue;
    const NodeId host = topology.link(topology.port(outage.port).link).a.node;
    if (topology.node(host).role != NodeRole::kHost) continue;
    changes.emplace_back(outage.from, 1, host.value);
    if (outage.until) changes.emplace_back(*outage.until, -1, host.value);
  }
  std::sort(changes.begin(), changes.end());
  std::map<uint32_t, uint32_t> down;
  for (const auto& [ns, change, host] : changes) {
    down[host] += static_cast<uint32_t>(change);
    if (down[host] >= topology.planes) return true;
  }
  return false;
}

}  // namespace

ImportedIncident import_incident(const LinkLog& log, const PortMap& ports, const Topology& topology,
                                 const ImportOptions& options) {
  ImportedIncident in;
  in.other_lines = log.other_lines;
  in.unread_lines = log.unread_lines;
  in.unread = log.unread;
  in.notes = log.notes;
  std::vector<PortEvent> events = known_events(log, ports, options.skip_unknown, in);
  spread_ticks(events, in);
  in.events = events.size();
  in.first_ns = events.front().ns;
  in.last_ns = events.back().ns;
  in.dated = events.front().event->time.year != 0;
  Pairing pairing(topology, in);
  for (PortEvent& event : events) {
    event.ns -= in.first_ns;
    pairing.take(event);
  }
  std::erase_if(in.outages, [](const ImportedOutage& o) { return o.until && *o.until <= o.from; });
  if (in.outages.empty()) {
    throw InputError("found no outage in " + std::to_string(in.events) +
                     " link events: expected a link that goes down, or errors");
  }
  for (const ImportedOutage& outage : in.outages) {
    if (!outage.until) continue;
    const int64_t length = *outage.until - outage.from;
    in.shortest_ns = std::min(in.shortest_ns.value_or(length), length);
  }
  compress_time(in, options, topology.base_rtt);
  in.host_cut_off = cuts_off_a_host(in, topology);
  return in;
}

}  // namespace mrclab::lab
