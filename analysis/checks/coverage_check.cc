#include "analysis/checks/coverage_check.h"

#include <algorithm>

namespace mrclab::analysis {
namespace {

/// A check needs everything that the witness would say before `until`.
struct Reliance {
  Witness of;
  FabricTime until;
};
using Reliances = std::vector<Reliance>;

/// The evidence that each check needs, to pass as well as to fail.
class ReliancesOf {
 public:
  explicit ReliancesOf(const CheckedSpan& span) : span_(span) {}

  Reliances operator()(const ExpectNoQpError&) const { return reports_and_packets(); }
  Reliances operator()(const ExpectMemoryIntact&) const { return reports_and_packets(); }
  /// A path that carries nothing may still be usable: then the hosts' events and reports decide.
  Reliances operator()(const ExpectHealed&) const { return {packets(), reports(), events()}; }
  Reliances operator()(const ExpectGoodput& e) const { return measured(e.until, e.of); }
  Reliances operator()(const ExpectGap& e) const { return measured(e.until, e.of); }
  /// These need the whole run: only its end shows which flows and queue pairs took part.
  Reliances operator()(const ExpectFairness&) const { return {packets()}; }
  Reliances operator()(const ExpectAffectedQps&) const { return {packets()}; }
  Reliances operator()(const ExpectLossesPerQp&) const { return {packets()}; }
  Reliances operator()(const ExpectCompletionTime& e) const {
    return {{Witness::kEvents, std::max(clipped(e.until), clipped(span_.first_fault))}};
  }
  /// Every other check with an interval is measured on packets.
  Reliances operator()(const auto& e) const requires requires { e.until; }
  { return {packets_until(e.until)}; }
  Reliances operator()(const ExpectDetect&) const { return {packets()}; }
  Reliances operator()(const ExpectRecover&) const { return {packets()}; }
  Reliances operator()(const ExpectLeave&) const { return {packets()}; }
  Reliances operator()(const ExpectCounter&) const { return {packets()}; }
  Reliances operator()(const ExpectSteady&) const { return {packets_until(span_.first_fault)}; }
  Reliances operator()(const ExpectQpError&) const { return {reports()}; }
  Reliances operator()(const ExpectSafety&) const { return {}; }
  Reliances operator()(const ExpectPlacedOnce&) const { return reports_and_packets(); }
  Reliances operator()(const ExpectNoSilentLoss&) const { return reports_and_packets(); }
  Reliances operator()(const ExpectInOrder&) const { return reports_and_packets(); }
  Reliances operator()(const ExpectNoQpErrorWhileAPathLives&) const {
    return {reports(), events()};
  }
  Reliances operator()(const ExpectAccounted&) const { return {packets(), records()}; }
  Reliances operator()(const ExpectLiveness&) const { return {}; }
  Reliances operator()(const ExpectGoodputBack&) const { return reports_and_packets(); }
  Reliances operator()(const ExpectEvsGood&) const { return {reports(), events()}; }
  /// Packet records are needed only where all work has ended; the check itself asks for them there.
  Reliances operator()(const ExpectQueuesEmpty&) const { return reports_and_packets(); }

 private:
  /// An interval that goes on to the end of the run needs everything that its witnesses say.
  FabricTime clipped(FabricTime until) const {
    return until >= span_.end ? FabricTime::never() : until;
  }
  static Reliance packets() { return {Witness::kPackets, FabricTime::never()}; }
  static Reliance records() { return {Witness::kRecords, FabricTime::never()}; }
  static Reliance events() { return {Witness::kEvents, FabricTime::never()}; }
  static Reliance reports() { return {Witness::kReports, FabricTime::never()}; }
  static Reliances reports_and_packets() { return {packets(), reports()}; }
  Reliance packets_until(FabricTime until) const {
    if (until >= span_.end) return packets();
    return {Witness::kPackets, clipped(until + span_.settling)};
  }
  Reliances measured(FabricTime until, const GoodputReference& of) const {
    const bool baseline = of.kind == GoodputReference::kBaseline;
    return {packets_until(until), packets_until(baseline ? span_.first_fault : FabricTime::zero())};
  }

  CheckedSpan span_;
};

std::string told(const Coverage& coverage, Witness witness) {
  const FabricTime until = coverage.until(witness);
  const std::string& why = coverage.why(witness);
  if (until == FabricTime::zero()) return why;
  return why + "; what " + std::string(kWitnessNames[static_cast<size_t>(witness)]) +
         " show is complete until " + to_string(until) + " only";
}

}  // namespace

CheckResult judge_coverage(const Expectation& expectation, CheckResult check,
                           const Coverage& coverage, const CheckedSpan& span) {
  if (check.proven || check.result == Result::kInconclusive) return check;
  for (const Reliance& need :
       std::visit(ReliancesOf(span), static_cast<const ExpectationKind&>(expectation))) {
    if (need.until <= coverage.until(need.of)) continue;
    check.result = Result::kInconclusive;
    check.measured.reset();  // a value measured on a part would look like the whole
    check.note = told(coverage, need.of);
    return check;
  }
  return check;
}

}  // namespace mrclab::analysis
