#pragma once
// What is done about a wrong attribute (RFC 7606 sections 3 and 7), as a table.

#include <cstdint>
#include <string_view>

#include "routing/bgp/path_attributes.h"

namespace mrclab::routing {

/// From the weakest to the strongest; of several the strongest wins (RFC 7606 section 3 h).
enum class ErrorAction : uint8_t { kNone, kDiscardAttribute, kTreatAsWithdraw, kResetSession };

// The members have the order in which a person reads a row of the table below, which costs a few bytes of padding.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct AttributeRule {
  uint8_t code;
  std::string_view name;
  uint8_t flags;         ///< Optional and Transitive, as they must be
  ErrorAction if_wrong;  ///< flags, length or content
  uint8_t subcode;       ///< of an UPDATE error, where the session has to end after all
  uint16_t length_unit;  ///< the length is a multiple of it; 0: by the content
  uint16_t length_least, length_most;
};

inline constexpr uint16_t kAnyLength = 0xFFFF;
inline constexpr uint8_t kRuleWellKnown = kFlagTransitive, kRuleOptional = kFlagOptional,
                         kRulePassedOn = kFlagOptional | kFlagTransitive;

/// From external peers LOCAL_PREF, ORIGINATOR_ID and CLUSTER_LIST are discarded whatever they hold (sections
/// 7.5, 7.9, 7.10), as every peer here is external. AGGREGATOR is 6 or 8 octets, by what was agreed.
inline constexpr AttributeRule kAttributeRules[] = {
    {attribute::kOrigin, "ORIGIN", kRuleWellKnown, ErrorAction::kTreatAsWithdraw, 6, 1, 1, 1},
    {attribute::kAsPath, "AS_PATH", kRuleWellKnown, ErrorAction::kTreatAsWithdraw, 11, 0, 0,
     kAnyLength},
    {attribute::kNextHop, "NEXT_HOP", kRuleWellKnown, ErrorAction::kTreatAsWithdraw, 8, 4, 4, 4},
    {attribute::kMed, "MULTI_EXIT_DISC", kRuleOptional, ErrorAction::kTreatAsWithdraw, 5, 4, 4, 4},
    {attribute::kLocalPref, "LOCAL_PREF", kRuleWellKnown, ErrorAction::kDiscardAttribute, 5, 0, 0,
     kAnyLength},
    {attribute::kAtomicAggregate, "ATOMIC_AGGREGATE", kRuleWellKnown,
     ErrorAction::kDiscardAttribute, 5, 1, 0, 0},
    {attribute::kAggregator, "AGGREGATOR", kRulePassedOn, ErrorAction::kDiscardAttribute, 5, 2, 6,
     8},
    {attribute::kCommunities, "COMMUNITIES", kRulePassedOn, ErrorAction::kTreatAsWithdraw, 9, 4, 4,
     kAnyLength},
    {attribute::kOriginatorId, "ORIGINATOR_ID", kRuleOptional, ErrorAction::kDiscardAttribute, 9, 0,
     0, kAnyLength},
    {attribute::kClusterList, "CLUSTER_LIST", kRuleOptional, ErrorAction::kDiscardAttribute, 9, 0,
     0, kAnyLength},
    {attribute::kMpReach, "MP_REACH_NLRI", kRuleOptional, ErrorAction::kResetSession, 9, 0, 5,
     kAnyLength},
    {attribute::kMpUnreach, "MP_UNREACH_NLRI", kRuleOptional, ErrorAction::kResetSession, 9, 0, 3,
     kAnyLength},
    {attribute::kExtendedCommunities, "EXTENDED_COMMUNITIES", kRulePassedOn,
     ErrorAction::kTreatAsWithdraw, 9, 8, 8, kAnyLength},
    {attribute::kAs4Path, "AS4_PATH", kRulePassedOn, ErrorAction::kDiscardAttribute, 9, 0, 0,
     kAnyLength},
    {attribute::kAs4Aggregator, "AS4_AGGREGATOR", kRulePassedOn, ErrorAction::kDiscardAttribute, 9,
     8, 8, 8},
};

/// nullptr for a code that means nothing here.
constexpr const AttributeRule* rule_of(uint8_t code) {
  for (const AttributeRule& rule : kAttributeRules) {
    if (rule.code == code) return &rule;
  }
  return nullptr;
}

constexpr bool length_fits(const AttributeRule& rule, size_t length) {
  return length >= rule.length_least &&
         (rule.length_most == kAnyLength || length <= rule.length_most) &&
         (rule.length_unit == 0 || length % rule.length_unit == 0);
}

}  // namespace mrclab::routing
