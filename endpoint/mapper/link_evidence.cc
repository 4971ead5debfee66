#include "endpoint/mapper/link_evidence.h"

#include <limits>
#include <utility>

#include "fabric/probes/probe_evidence.h"

namespace mrclab::endpoint {
namespace {

/// Our choice: at three probes a link and period a loss of 0.3 % shows twice in so many.
constexpr uint64_t kPeriodsKept = 256;
constexpr size_t kMostLost = 4096;
/// One loss is an accident.
constexpr uint32_t kLeastLost = 2;

void count_up(uint8_t& n) { n = std::min<uint8_t>(n, std::numeric_limits<uint8_t>::max() - 1) + 1; }

uint64_t periods_for(const DenylistPolicy& policy) {
  const bool counts = policy.rule == DenylistPolicy::Rule::kOverLoss;
  return counts ? std::max<uint64_t>(policy.probes, 2) : kPeriodsKept;
}

}  // namespace

bool LinkEvidence::LostProbe::has(uint32_t link) const {
  return std::find(links.begin(), links.begin() + count, link) != links.begin() + count;
}

LinkEvidence::LinkEvidence(uint32_t links, const DenylistPolicy& policy, double threshold)
    : links_(links),
      policy_(policy),
      threshold_(threshold),
      periods_(periods_for(policy)),
      cells_(links * periods_),
      slow_(links) {}

bool LinkEvidence::begin(uint64_t period) {
  // Each period that is new takes the place of the oldest one; after a long pause all are.
  for (uint64_t n = 0; newest_ < period && n < periods_; ++n) {
    const uint64_t next = std::max(newest_ + 1, period - std::min(period, periods_ - 1));
    std::fill_n(cells_.begin() + static_cast<std::ptrdiff_t>(next % periods_ * links_), links_,
                Cell{});
    newest_ = next;
  }
  while (!lost_.empty() && lost_.front().period < oldest()) lost_.pop_front();
  return period >= oldest();
}

void LinkEvidence::back(uint64_t period, std::span<const uint32_t> links) {
  for (const uint32_t link : links) count_up(cell(link, period).good);
}

void LinkEvidence::slow(uint64_t period, std::span<const uint32_t> links) {
  for (const uint32_t link : links) slow_[link] = std::max(slow_[link], period + 1);
}

void LinkEvidence::lost(uint64_t period, std::span<const uint32_t> links) {
  const bool full = std::any_of(links.begin(), links.end(), [&](uint32_t link) {
    return slow_[link] > 0 && slow_[link] >= period;
  });
  if (full) return;
  LostProbe probe;
  probe.period = period;
  for (const uint32_t link : links.first(std::min(links.size(), kMostLinks))) {
    if (probe.has(link)) continue;
    probe.links[probe.count++] = link;
    count_up(cell(link, period).bad);
    suspects_.push_back(link);
  }
  if (lost_.size() == kMostLost) lost_.pop_front();
  lost_.push_back(probe);
}

void LinkEvidence::lost_by(uint64_t period, uint32_t link) { count_up(cell(link, period).bad); }

LinkEvidence::Tally LinkEvidence::at(uint32_t link, uint64_t period) const {
  if (period < oldest() || period > newest_) return {};
  return {cell(link, period).bad, cell(link, period).good};
}

LinkEvidence::Tally LinkEvidence::of_late(uint32_t link) const {
  Tally sum;
  const bool counts = policy_.rule == DenylistPolicy::Rule::kOverLoss;
  for (uint64_t n = 0; n < periods_ && n <= newest_; ++n) {
    const Cell& one = cell(link, newest_ - n);
    if (counts && sum.bad + sum.good >= policy_.probes) break;
    sum.bad += one.bad;
    sum.good += one.good;
  }
  return sum;
}

double LinkEvidence::nats(uint32_t link) const {
  double best = 0;
  for (const double share : kLossBank) {
    const double bad = evidence_of_loss(share), good = evidence_of_return(share);
    double sum = 0;
    for (uint64_t period = oldest(); period <= newest_; ++period) {
      const Cell& one = cell(link, period);
      if (one.good == 0 && one.bad == 0) continue;
      sum = std::max(0.0, sum + one.good * good) + one.bad * bad;
    }
    best = std::max(best, sum);
  }
  return best;
}

/// That more were lost than a share of the last probes is certain before all of them have come.
bool LinkEvidence::over(uint32_t link) const {
  const Tally late = of_late(link);
  if (late.bad < kLeastLost) return false;
  if (policy_.rule == DenylistPolicy::Rule::kCertain) return nats(link) >= threshold_;
  const double share = static_cast<double>(policy_.loss.ppb) / Probability::kOne;
  return late.bad > share * policy_.probes;
}

std::vector<uint32_t> LinkEvidence::take_suspects() {
  std::sort(suspects_.begin(), suspects_.end());
  suspects_.erase(std::unique(suspects_.begin(), suspects_.end()), suspects_.end());
  return std::exchange(suspects_, {});
}

std::vector<uint32_t> LinkEvidence::rivals(uint32_t link) const {
  std::vector<uint32_t> all;
  for (const LostProbe& probe : lost_) {
    if (!probe.has(link)) continue;
    for (uint8_t i = 0; i < probe.count; ++i) {
      if (probe.links[i] != link) all.push_back(probe.links[i]);
    }
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void LinkEvidence::explain(uint32_t link) {
  for (const LostProbe& probe : lost_) {
    if (!probe.has(link)) continue;
    for (uint8_t i = 0; i < probe.count; ++i) {
      if (probe.links[i] == link) continue;
      Cell& one = cell(probe.links[i], probe.period);
      if (one.bad > 0) --one.bad;
    }
  }
  std::erase_if(lost_, [&](const LostProbe& probe) { return probe.has(link); });
}

void LinkEvidence::forget(uint32_t link) {
  explain(link);
  for (uint64_t period = oldest(); period <= newest_; ++period) cell(link, period) = {};
}

}  // namespace mrclab::endpoint
