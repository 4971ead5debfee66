#include "endpoint/mapper/denylist_collector.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "fabric/probes/denylist_fit.h"
#include "fabric/probes/probe_evidence.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::endpoint {
namespace {

/// Two links are told apart by this: odds of twenty to one (our choice).
constexpr double kMargin = 3;
/// So many times the threshold, and all that explain the same losses are denied.
constexpr double kClassFactor = 2;
constexpr uint32_t kMostRelapses = 4;  ///< doublings
constexpr size_t kMostHeard = 4;
constexpr uint64_t kMostDecisions = 64;  ///< at once

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %%", share * 100);
  return text;
}

}  // namespace

DenylistCollector::DenylistCollector(const Topology& topology)
    : topology_(topology),
      numbers_(topology),
      threshold_(alarm_threshold(topology.mapper.on ? probes_a_period(topology) : 1)),
      evidence_(topology.mapper.on ? numbers_.count() : 0, topology.denylist, threshold_),
      denied_(fixed_parts(topology).denied),
      known_(topology.host_count()),
      reported_(topology.host_count()),
      seen_(topology.host_count()) {
  const uint32_t need = topology.denylist.clean;
  for (const DeniedPart& part : denied_.parts()) {
    entries_.push_back({part, 0, need, {}});
    changes_.push_back({"deny", part, "static"});
  }
  for (const auto& [part, why] : fixed_parts(topology).refused) {
    changes_.push_back({"capped", part, "static: " + why});
  }
  drains_ = topology.denylist.drains;
  std::stable_sort(drains_.begin(), drains_.end(),
                   [](const auto& a, const auto& b) { return a.from > b.from; });
}

bool DenylistCollector::takes(const Entry& entry, uint32_t link) const {
  const DeniedPart one = numbers_.part(link);
  const DeniedPart& part = entry.part;
  if (one.plane != part.plane) return false;
  const bool port = one.kind == PartKind::kPort;
  switch (part.kind) {
    case PartKind::kLink:
    case PartKind::kPort: return one == part;
    case PartKind::kT1: return !port && one.uplink == part.uplink;
    case PartKind::kT0: return (port ? topology_.host_row(one.index) : one.index) == part.index;
    case PartKind::kPlane: return true;
  }
  return false;
}

std::vector<uint32_t> DenylistCollector::links_of(uint32_t host, const Probe& probe) const {
  const uint32_t p = probe.plane, a = topology_.host_row(host);
  std::vector<uint32_t> links{numbers_.port(p, host)};
  if (probe.kind == ProbeKind::kT0) return links;
  links.push_back(numbers_.link(p, a, probe.uplink));
  if (probe.kind == ProbeKind::kT1) return links;
  links.push_back(numbers_.link(p, probe.far_row, probe.uplink));
  links.push_back(numbers_.link(p, probe.far_row, probe.back));
  links.push_back(numbers_.link(p, a, probe.back));
  return links;
}

bool DenylistCollector::take(uint32_t host, const AgentReport& report, FabricTime now) {
  // A period that no agent can have reported yet is no time: its product could be more than a FabricTime holds.
  const FabricTime latest = now - std::min(now, probe_timeout(topology_));
  const auto ended = static_cast<uint64_t>(latest / probe_period(topology_));
  const bool possible = report.period < ended && host < known_.size() &&
                        report.list <= static_cast<uint64_t>(now.ps());
  if (!possible) return false;
  const std::vector<Probe> probes = planned_probes(topology_, host, report.period);
  if (probes.size() != report.fates.size()) return false;
  // Each period of a host counts once, however often its report comes.
  uint64_t& next = reported_[host];
  if (report.period >= next) {
    const uint64_t ahead = report.period + 1 - next;
    seen_[host] = ahead < 64 ? seen_[host] << ahead : 0;
    next = report.period + 1;
    known_[host] = report.list;
  }
  const uint64_t age = next - 1 - report.period;
  if (age >= 64 || (seen_[host] >> age & 1) != 0) return true;
  seen_[host] |= uint64_t{1} << age;
  if (!evidence_.begin(report.period)) return true;
  if (is_of_itself(probes, report)) return true;
  for (size_t i = 0; i < probes.size(); ++i) {
    if (report.fates[i] == ProbeFate::kSlow) {
      evidence_.slow(report.period, links_of(host, probes[i]));
    }
  }
  for (size_t i = 0; i < probes.size(); ++i) {
    const std::vector<uint32_t> links = links_of(host, probes[i]);
    if (report.fates[i] == ProbeFate::kLost) {
      note_lost(report.period, links);
    } else if (report.fates[i] != ProbeFate::kUnsent) {
      evidence_.back(report.period, links);
    }
  }
  if (known_[host] > version_) changed(now);  // of a collector before this one
  const bool all = ++heard_[report.period] == known_.size();
  if (heard_.size() > kMostHeard) heard_.erase(heard_.begin());
  if (all) decide(now);
  return true;
}

/// A host that loses all of its probes in more than half of its planes at once is what is broken, and no link.
bool DenylistCollector::is_of_itself(const std::vector<Probe>& probes,
                                     const AgentReport& report) const {
  std::vector<uint8_t> sent(topology_.planes), back(topology_.planes);
  for (size_t i = 0; i < probes.size(); ++i) {
    if (report.fates[i] == ProbeFate::kUnsent) continue;
    sent[probes[i].plane] = 1;
    if (report.fates[i] != ProbeFate::kLost) back[probes[i].plane] = 1;
  }
  uint32_t dark = 0;
  for (uint32_t plane = 0; plane < topology_.planes; ++plane) {
    dark += sent[plane] != 0 && back[plane] == 0 ? 1 : 0;
  }
  return dark > 1 && dark > topology_.planes / 2;
}

/// What is denied, drained or capped explains a loss; where two such parts do, it says nothing of either.
void DenylistCollector::note_lost(uint64_t period, const std::vector<uint32_t>& links) {
  const Entry* cause = nullptr;
  uint32_t link = 0;
  for (const uint32_t one : links) {
    for (const Entry& entry : entries_) {
      if (!takes(entry, one) || &entry == cause) continue;
      if (cause != nullptr) return;
      cause = &entry;
      link = one;
    }
  }
  if (cause == nullptr) {
    evidence_.lost(period, links);
  } else {
    evidence_.lost_by(period, link);
  }
}

void DenylistCollector::decide(FabricTime now) {
  std::vector<std::pair<double, uint32_t>> found;
  for (const uint32_t link : evidence_.take_suspects()) {
    if (evidence_.over(link)) found.emplace_back(-evidence_.nats(link), link);
  }
  if (!topology_.denylist.decides()) return;
  std::sort(found.begin(), found.end());
  found.resize(std::min<size_t>(found.size(), kMostDecisions));
  for (const auto& [less, link] : found) {
    if (!evidence_.over(link)) continue;  // what was denied before it explains it
    const double nats = evidence_.nats(link);
    std::vector<uint32_t> equals;
    for (const uint32_t rival : evidence_.rivals(link)) {
      if (evidence_.nats(rival) > nats - kMargin) equals.push_back(rival);
    }
    if (!equals.empty() && nats < kClassFactor * threshold_) continue;
    if (equals.size() >= kMostPlaces) continue;
    equals.push_back(link);
    std::vector<std::string> why;
    why.reserve(equals.size());
    for (const uint32_t one : equals) why.push_back(loss_of(one));
    for (size_t i = 0; i < equals.size(); ++i) {
      const std::string_view others = equals.size() > 1 ? ", as of others by the same probes" : "";
      deny(equals[i], why[i] + std::string(others), now);
    }
  }
}

std::string DenylistCollector::loss_of(uint32_t link) const {
  const LinkEvidence::Tally late = evidence_.of_late(link);
  const uint32_t of = std::max(late.bad + late.good, 1u);
  return std::to_string(late.bad) + " of " + std::to_string(of) + " probes lost (" +
         percent(static_cast<double>(late.bad) / of) + ")";
}

/// A link that is denied again soon after it was allowed must be clean for twice as long.
void DenylistCollector::deny(uint32_t link, const std::string& why, FabricTime now) {
  const DeniedPart part = numbers_.part(link);
  const uint64_t period = *std::max_element(reported_.begin(), reported_.end());
  const uint32_t clean = topology_.denylist.clean;
  Past& past = past_[part];
  if (period > past.allowed + (uint64_t{clean} << kMostRelapses)) past.times = 0;
  const uint32_t doublings = std::min(past.times++, kMostRelapses);
  evidence_.explain(link);
  enter({part, period, clean << doublings, {}}, why, now);
}

void DenylistCollector::enter(Entry entry, const std::string& why, FabricTime now) {
  if (denied_.has(entry.part)) return;
  const auto refusal = denied_.refusal(entry.part);
  entry.capped = refusal.has_value();
  if (refusal) {
    changes_.push_back({"capped", entry.part, why + ": " + *refusal});
  } else {
    denied_.add(entry.part);
    changes_.push_back({"deny", entry.part, why});
    changed(now);
  }
  entries_.push_back(entry);
}

void DenylistCollector::changed(FabricTime now) {
  version_ = static_cast<uint64_t>(now.ps());
  sends_ = true;
}

bool DenylistCollector::was_clean(const Entry& entry, uint64_t period) const {
  bool probed = false;
  for (const uint32_t link : numbers_.links_of(entry.part)) {
    const LinkEvidence::Tally tally = evidence_.at(link, period);
    if (tally.bad > 0 || tally.good == 0) return false;
    probed = true;
  }
  return probed;
}

void DenylistCollector::look_at_clean(uint64_t period, FabricTime now) {
  for (size_t i = 0; i < entries_.size();) {
    Entry& entry = entries_[i];
    entry.clean = was_clean(entry, period) ? entry.clean + 1 : 0;
    // A drain ends at its time; where probes decide, not before the part has been seen to work again.
    const bool decides = topology_.denylist.decides();
    const bool fixed = !decides && entry.until == FabricTime::zero();
    const bool over = entry.clean >= (decides ? entry.need : 0) &&
                      period >= entry.since + topology_.denylist.hold && now >= entry.until;
    if (fixed || !over) {
      if (entry.capped && !denied_.refusal(entry.part)) {
        entry.capped = false;
        denied_.add(entry.part);
        changes_.push_back({"deny", entry.part, "others were allowed again"});
        changed(now);
      }
      ++i;
      continue;
    }
    past_[entry.part].allowed = period;
    for (const uint32_t link : numbers_.links_of(entry.part)) evidence_.forget(link);
    if (!entry.capped) {
      denied_.remove(entry.part);
      changes_.push_back({"allow", entry.part,
                          decides ? std::to_string(entry.clean) + " clean periods"
                                  : std::string("its drain is over")});
      changed(now);
    }
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void DenylistCollector::end_period(uint64_t period, FabricTime now) {
  decide(now);
  if (period > 0) look_at_clean(period - 1, now);  // the reports of this one are under way
  sends_ = true;
  const uint64_t confirm = std::max(topology_.denylist.expires / 4, 1u);
  confirms_ = version_ > 0 && period % confirm == 0;
}

FabricTime DenylistCollector::deadline() const {
  return drains_.empty() ? FabricTime::never() : drains_.back().from;
}

/// What is drained is allowed again by look_at_clean(), at the end of the period in which its time is over.
void DenylistCollector::run_drains(FabricTime now) {
  while (!drains_.empty() && drains_.back().from <= now) {
    const DenylistPolicy::Drain drain = std::move(drains_.back());
    drains_.pop_back();
    const auto period = static_cast<uint64_t>(now.ps() / probe_period(topology_).ps());
    for (const DeniedPart& part : parts_named(topology_, drain.part)) {
      enter({part, period, topology_.denylist.clean, drain.to}, "drained", now);
    }
  }
}

std::vector<uint32_t> DenylistCollector::take_behind() {
  std::vector<uint32_t> hosts;
  if (!std::exchange(sends_, false)) return hosts;
  const bool all = std::exchange(confirms_, false);
  for (uint32_t host = 0; host < known_.size(); ++host) {
    if (all || known_[host] != version_) hosts.push_back(host);
  }
  return hosts;
}

}  // namespace mrclab::endpoint
