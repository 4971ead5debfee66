#pragma once
// Expectations of what a mapper finds (analysis/mapper).

#include "analysis/expect/expectation_parts.h"
#include "fabric/mapper/mapper_witness.h"

namespace mrclab::analysis {

/// The mapper names a part of this kind and name ("link h0:p0--p0.t0-0:d0", "switch p0.t1-2"; a pattern), alone or as one
/// of a class, at most `within` after the first fault, and names no other part. Part "none": the mapper names no part at
/// all. `by`: which witness has to name it.
struct ExpectMapperNames {
  static constexpr ExpectationWord kWord{
      "mapper_names", Measure::kTime,
      "\"mapper_names: {part: link p0.t0-0:u1--p0.t1-1:d0, within: 60rtt}\""};
  std::string part;
  FabricTime within = FabricTime::never();
  MapperWitness by = MapperWitness::kProbes;
  bool operator==(const ExpectMapperNames&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("part", e.part, Need::kRequired);
    visit("within", e.within, Need::kOptionalPositive);
    visit("by", e.by, Need::kOptional);
  }
};
const Rules<ExpectMapperNames>& rules_of(const ExpectMapperNames&);

/// Every host left a part of this kind and name out (a pattern), within that time of the first fault, and at most so many
/// times. Part "none": nothing was left out.
struct ExpectDenied {
  static constexpr ExpectationWord kWord{
      "denied", Measure::kTime, "\"denied: {part: link p0.t0-0:u1--p0.t1-1:d0, within: 60rtt}\""};
  std::string part;
  FabricTime within = FabricTime::never();
  static constexpr uint64_t kNoBound = UINT64_MAX;
  uint64_t at_most = kNoBound;
  bool operator==(const ExpectDenied&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("part", e.part, Need::kRequired);
    visit("within", e.within, Need::kOptionalPositive);
    visit("at_most", e.at_most, Need::kOptional);
  }
};
const Rules<ExpectDenied>& rules_of(const ExpectDenied&);

/// Such a part is in use again at every host at the end, within that time of the last heal.
struct ExpectAllowedAgain {
  static constexpr ExpectationWord kWord{
      "allowed_again", Measure::kTime,
      "\"allowed_again: {part: link p0.t0-0:u1--p0.t1-1:d0, within: 200rtt}\""};
  std::string part;
  FabricTime within = FabricTime::never();
  bool operator==(const ExpectAllowedAgain&) const = default;

  static void fields(auto& e, auto&& visit) {
    visit("part", e.part, Need::kRequired);
    visit("within", e.within, Need::kOptionalPositive);
  }
};
const Rules<ExpectAllowedAgain>& rules_of(const ExpectAllowedAgain&);

}  // namespace mrclab::analysis
