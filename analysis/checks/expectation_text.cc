// What expectations are called in a verdict.

#include "analysis/checks/expectation_text.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "analysis/measure/measurements.h"

namespace mrclab::analysis {
namespace {

std::string share(Probability p) {
  std::string text = exact(p);
  return text.insert(text.find('%'), " ");
}

std::string of(const GoodputReference& reference) {
  if (reference.kind == GoodputReference::kRate) return " of " + exact(reference.rate);
  return reference.kind == GoodputReference::kBaseline ? " of baseline" : " of line rate";
}

std::string who(const FlowSelection& flows) {
  std::string text;
  if (!flows.host.empty()) text += " of " + flows.host;
  if (!flows.source.empty()) text += " from " + flows.source;
  if (!flows.destination.empty()) text += " to " + flows.destination;
  if (flows.plane) text += " in plane " + std::to_string(*flows.plane);
  return text;
}

std::string at_least(const std::string& bound) { return " ≥ " + bound; }
std::string at_most(const std::string& bound) { return " ≤ " + bound; }

/// " ≥ low and ≤ high", of which only the given bounds are named: a default-made `low` and `high`
/// == `most` stand for none.
template <class Bound, class Text>
std::string bounds(const Bound& low, const Bound& high, const Bound& most, Text text) {
  const bool has_low = low != Bound{}, has_high = high != most;
  return (has_low ? at_least(text(low)) : "") + (has_low && has_high ? " and" : "") +
         (has_high ? at_most(text(high)) : "");
}

std::string count_bounds(uint64_t low, uint64_t high) {
  return bounds(low, high, PacketBounds::kNoBound,
                [](uint64_t count) { return std::to_string(count); });
}

constexpr int kMostDigits = 4;

/// "66.12us (6 RTT)", "600us". `base_rtt`: zero if unknown.
std::string shortened(FabricTime t, FabricTime base_rtt) {
  const std::string text = exact(t);
  const auto digits =
      std::count_if(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  if (digits <= kMostDigits) return text;
  const std::string readable = to_string(t);
  const size_t unit = readable.find_first_not_of("0123456789.");
  char rounded[48];
  std::snprintf(rounded, sizeof rounded, "%.*g%s", kMostDigits,
                std::strtod(readable.c_str(), nullptr), readable.c_str() + unit);
  // A file's "2.3rtt" was rounded down to whole picoseconds, so the quotient may be a tenth too low.
  const int64_t tenths =
      base_rtt > FabricTime::zero() ? (t + FabricTime::from_ps(1)) * 10 / base_rtt : 0;
  if (tenths == 0 || base_rtt * tenths / 10 != t) return rounded;
  const std::string fraction = tenths % 10 == 0 ? "" : "." + std::to_string(tenths % 10);
  return std::string(rounded) + " (" + std::to_string(tenths / 10) + fraction + " RTT)";
}

/// Each sentence says what is measured, for which hosts and when, and ends with the bound.
class Describer {
 public:
  explicit Describer(const RunTimes& times) : times_(times) {}

  std::string operator()(const ExpectNoQpError&) const {
    return "queue pairs in error" + at_most("0");
  }
  std::string operator()(const ExpectMemoryIntact&) const {
    return "bytes wrong in memory" + at_most("0");
  }
  std::string operator()(const ExpectHealed&) const {
    return "faults not healed at the end" + at_most("0");
  }
  std::string operator()(const ExpectGoodput& e) const {
    const bool whole_plane = e.flows.all_hosts() && e.flows.plane;
    return "goodput" +
           (whole_plane ? " of plane " + std::to_string(*e.flows.plane) : who(e.flows)) + when(e) +
           bounds(e.at_least, e.at_most, Probability{}, share) + of(e.of);
  }
  std::string operator()(const ExpectDetect& e) const {
    return "time to detect a fault" + at_most(time(e.within));
  }
  std::string operator()(const ExpectRecover& e) const {
    return "time to recover to " + share(e.to) + " of baseline" + at_most(time(e.within));
  }
  std::string operator()(const ExpectLeave& e) const {
    return "time to leave the affected paths" + at_most(time(e.within));
  }
  std::string operator()(const ExpectQpError& e) const {
    return "queue pairs that fail with \"" + e.reason + "\"" + at_least("1");
  }
  std::string operator()(const ExpectGap& e) const {
    return "longest stretch below " + share(e.below) + of(e.of) + who(e.flows) + when(e) +
           at_most(time(e.at_most));
  }
  std::string operator()(const ExpectSamples& e) const {
    return "lowest goodput of " + time(e.every) + who(e.flows) + when(e) +
           at_least(share(e.min_over_mean)) + " of the mean";
  }
  std::string operator()(const ExpectLatency& e) const {
    return "mean latency" + who({e.source, e.destination, {}}) + when(e) +
           bounds(e.at_least, e.at_most, FabricTime::never(),
                  [&](FabricTime t) { return time(t); });
  }
  std::string operator()(const ExpectFairness& e) const {
    const char* by = e.by == FairnessMeasure::kJain ? "Jain's fairness" : "least over most goodput";
    return by + who(e.flows) + when(e) + at_least(share(e.at_least));
  }
  std::string operator()(const ExpectLossesPerQp& e) const {
    return "most packets lost by one QP" + who(e.flows) + when(e) +
           at_most(std::to_string(e.at_most));
  }
  std::string operator()(const ExpectAffectedQps& e) const {
    return "QPs that lost a packet" + who(e.flows) + when(e) +
           bounds(e.at_least, e.at_most, Probability{Probability::kOne}, share);
  }
  std::string operator()(const ExpectLosses& e) const { return packets("lost", e); }
  std::string operator()(const ExpectTrims& e) const { return packets("trimmed", e); }
  std::string operator()(const ExpectRetransmissions& e) const { return packets("sent again", e); }
  std::string operator()(const ExpectShare& e) const {
    return "share of " + e.path + who(e.flows) + when(e) +
           bounds(e.at_least, e.at_most, Probability{Probability::kOne}, share) + " of packets";
  }
  std::string operator()(const ExpectPathUnused& e) const {
    return "packets sent over " + e.path + who(e.flows) + when(e) +
           at_most(std::to_string(e.at_most));
  }
  std::string operator()(const ExpectCounter& e) const {
    return e.name + count_bounds(e.at_least, e.at_most);
  }
  std::string operator()(const ExpectCompletionTime& e) const {
    return "collectives slower than before the first fault" + when(e) + at_most(share(e.slower_by));
  }
  std::string operator()(const ExpectSteady&) const {
    return "variation of goodput before the first fault" +
           at_most(std::to_string(static_cast<int>(100 * kMaxBaselineVariation)) + " %");
  }
  std::string operator()(const ExpectSafety&) const { return "safety"; }
  std::string operator()(const ExpectPlacedOnce&) const {
    return "packets placed twice differently, or outside their region" + at_most("0");
  }
  std::string operator()(const ExpectNoSilentLoss&) const {
    return "messages lost without an error" + at_most("0");
  }
  std::string operator()(const ExpectInOrder&) const {
    return "completions out of order" + at_most("0");
  }
  std::string operator()(const ExpectNoQpErrorWhileAPathLives&) const {
    return "queue pairs in error while a path lives" + at_most("0");
  }
  std::string operator()(const ExpectAccounted&) const {
    return "packets not accounted for" + at_most("0");
  }
  std::string operator()(const ExpectLiveness& e) const { return "liveness" + within(e.within); }
  std::string operator()(const ExpectGoodputBack& e) const {
    return "goodput back at " + share(e.to) + " of baseline after the last heal" + within(e.within);
  }
  std::string operator()(const ExpectEvsGood& e) const {
    return "entropy values usable after the last heal" + within(e.within);
  }
  std::string operator()(const ExpectQueuesEmpty&) const { return "standing queue at the end"; }

 private:
  std::string time(FabricTime t) const { return shortened(t, times_.base_rtt); }
  /// The interval in words. An interval from behind the last heal to the end is called so.
  std::string when(const auto& e) const {
    const bool to_the_end = e.until == FabricTime::never();
    if (times_.healed && *times_.healed > FabricTime::zero() && e.from >= *times_.healed &&
        to_the_end) {
      return " after the heal (from " + time(e.from) + ")";
    }
    std::string text;
    if (e.from != FabricTime::zero()) text += " from " + time(e.from);
    if (!to_the_end) text += " until " + time(e.until);
    return text;
  }
  std::string packets(const char* what, const PacketBounds& e) const {
    return std::string("packets ") + what + who(e.flows) + when(e) +
           count_bounds(e.at_least, e.at_most);
  }
  std::string within(FabricTime bound) const {
    return at_most(bound == FabricTime::zero() ? std::to_string(kLivenessRtts) + " RTT"
                                               : time(bound));
  }

  RunTimes times_;
};

}  // namespace

std::string describe(const Expectation& expectation) { return describe_for_run(expectation, {}); }

std::string describe_for_run(const Expectation& expectation, const RunTimes& times) {
  return std::visit(Describer(times), expectation);
}

}  // namespace mrclab::analysis
