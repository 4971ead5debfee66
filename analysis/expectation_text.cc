// What expectations are called in a report.

#include "analysis/expectation.h"

namespace mrclab::analysis {
namespace {

std::string interval(FabricTime from, FabricTime until) {
  std::string text;
  if (from != FabricTime::zero()) text += " from " + exact(from);
  if (until != FabricTime::never()) text += " until " + exact(until);
  return text;
}

std::string of(const GoodputReference& reference) {
  if (reference.kind == GoodputReference::kRate) return exact(reference.rate);
  return reference.kind == GoodputReference::kBaseline ? "baseline" : "line rate";
}

std::string who(const FlowSelection& flows) {
  std::string text;
  if (!flows.host.empty()) text += " of " + flows.host;
  if (!flows.source.empty()) text += " from " + flows.source;
  if (!flows.destination.empty()) text += " to " + flows.destination;
  if (flows.plane) text += " in plane " + std::to_string(*flows.plane);
  return text;
}

template <class Bound>
std::string bounds(const Bound& at_least, const Bound& at_most, const Bound& most) {
  std::string text;
  if (at_least != Bound{}) text += " >= " + exact(at_least);
  if (at_most != most) text += (text.empty() ? "" : ",") + std::string(" <= ") + exact(at_most);
  return text;
}

/// "at most 5", "at least 1", "1 to 5"
std::string count_of(uint64_t at_least, uint64_t at_most) {
  if (at_most == PacketBounds::kNoBound) return "at least " + std::to_string(at_least);
  if (at_least == 0) return "at most " + std::to_string(at_most);
  return std::to_string(at_least) + " to " + std::to_string(at_most);
}
std::string packets(const PacketBounds& e, const char* what) {
  return count_of(e.at_least, e.at_most) + " packets " + what + who(e.flows) +
         interval(e.from, e.until);
}

std::string within(const char* what, FabricTime bound) {
  return std::string(what) + " within " +
         (bound == FabricTime::zero() ? std::to_string(kLivenessRtts) + " RTT" : to_string(bound)) +
         " of the last heal";
}

struct Describer {
  std::string operator()(const ExpectNoQpError&) const { return "no QP in error"; }
  std::string operator()(const ExpectMemoryIntact&) const { return "memory intact"; }
  std::string operator()(const ExpectHealed&) const { return "every fault healed"; }
  std::string operator()(const ExpectGoodput& e) const {
    const std::string from = " from " + exact(e.from);  // always, as in files
    return "goodput" + who(e.flows) + bounds(e.at_least, e.at_most, Probability{}) + " of " +
           of(e.of) + from + interval({}, e.until);
  }
  std::string operator()(const ExpectDetect& e) const {
    return "detected within " + to_string(e.within);
  }
  std::string operator()(const ExpectRecover& e) const {
    return "recovered to " + exact(e.to) + " of baseline within " + to_string(e.within);
  }
  std::string operator()(const ExpectLeave& e) const {
    return "affected paths left within " + to_string(e.within);
  }
  std::string operator()(const ExpectQpError& e) const { return "QP error \"" + e.reason + "\""; }
  std::string operator()(const ExpectGap& e) const {
    return "no longer than " + to_string(e.at_most) + " below " + exact(e.below) + " of " +
           of(e.of) + who(e.flows) + interval(e.from, e.until);
  }
  std::string operator()(const ExpectSamples& e) const {
    return "lowest sample of " + to_string(e.every) + " >= " + exact(e.min_over_mean) +
           " of the mean" + who(e.flows) + interval(e.from, e.until);
  }
  std::string operator()(const ExpectLatency& e) const {
    return "mean latency" + who({e.source, e.destination, {}}) +
           bounds(e.at_least, e.at_most, FabricTime::never()) + interval(e.from, e.until);
  }
  std::string operator()(const ExpectFairness& e) const {
    const char* by = e.by == FairnessMeasure::kJain ? "Jain's fairness" : "least over most";
    return by + who(e.flows) + " >= " + exact(e.at_least) + interval(e.from, e.until);
  }
  std::string operator()(const ExpectLossesPerQp& e) const {
    return "at most " + std::to_string(e.at_most) + " packets lost per QP" + who(e.flows) +
           interval(e.from, e.until);
  }
  std::string operator()(const ExpectAffectedQps& e) const {
    return "share of QPs that lost a packet" + who(e.flows) +
           bounds(e.at_least, e.at_most, Probability{Probability::kOne}) +
           interval(e.from, e.until);
  }
  std::string operator()(const ExpectLosses& e) const { return packets(e, "lost"); }
  std::string operator()(const ExpectTrims& e) const { return packets(e, "trimmed"); }
  std::string operator()(const ExpectRetransmissions& e) const { return packets(e, "sent again"); }
  std::string operator()(const ExpectShare& e) const {
    return "share of " + e.path + who(e.flows) +
           bounds(e.at_least, e.at_most, Probability{Probability::kOne}) +
           interval(e.from, e.until);
  }
  std::string operator()(const ExpectPathUnused& e) const {
    const std::string most =
        e.at_most == 0 ? "unused" : "used by at most " + std::to_string(e.at_most) + " packets";
    return e.path + " " + most + who(e.flows) + interval(e.from, e.until);
  }
  std::string operator()(const ExpectCounter& e) const {
    return e.name + ": " + count_of(e.at_least, e.at_most);
  }
  std::string operator()(const ExpectCompletionTime& e) const {
    return "collectives at most " + exact(e.slower_by) + " slower than before the first fault" +
           interval(e.from, e.until);
  }
  std::string operator()(const ExpectSteady&) const { return "steady before the first fault"; }
  std::string operator()(const ExpectSafety&) const { return "safety"; }
  std::string operator()(const ExpectPlacedOnce&) const {
    return "no byte placed twice differently, none outside its region";
  }
  std::string operator()(const ExpectNoSilentLoss&) const {
    return "no message lost without an error";
  }
  std::string operator()(const ExpectInOrder&) const { return "no completion out of order"; }
  std::string operator()(const ExpectNoQpErrorWhileAPathLives&) const {
    return "no QP in error while a path lives";
  }
  std::string operator()(const ExpectAccounted&) const { return "every packet accounted for"; }
  std::string operator()(const ExpectLiveness& e) const { return within("liveness", e.within); }
  std::string operator()(const ExpectGoodputBack& e) const {
    return within(("goodput back at " + exact(e.to) + " of baseline").c_str(), e.within);
  }
  std::string operator()(const ExpectEvsGood& e) const {
    return within("every entropy value usable", e.within);
  }
  std::string operator()(const ExpectQueuesEmpty&) const { return "no standing queue at the end"; }
};

}  // namespace

std::string describe(const Expectation& expectation) {
  return std::visit(Describer{}, expectation);
}

}  // namespace mrclab::analysis
