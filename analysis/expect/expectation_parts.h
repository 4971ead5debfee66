#pragma once
// What the structs of all families of expectations are made of. A struct is one expectation:
//
//   kWord     its word in files and in verdict.json, what its check measures in, its form
//   fields()  visit(name, member, need) for each field, in the order of writing; `e` may be const
//   kBounded  where it is there: at least one of at_least and at_most has to be given
//   rules_of  what it means (expectation_rules.h), beside the struct; in the family's .cc

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/expect/published.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// What an expectation means: its sentence, evidence, early end and check (expectation_rules.h).
template <class E>
struct Rules;

enum class Need : uint8_t {
  kOptional,          ///< absent: the default of the struct
  kOptionalPositive,  ///< the same, and not zero where it is given
  kRequired,
  kPositive,  ///< required, and not zero
};

/// `form` is what is right where a map is needed, or empty where the word may stand alone.
struct ExpectationWord {
  std::string_view name;
  Measure measure;  ///< the unit of the value that its check measures
  std::string_view form = "";
};

/// What a goodput is a share of.
struct GoodputReference {
  enum Kind : uint8_t {
    kBaseline,  ///< goodput of the same flows in the last 20 RTT before the first fault
    kLineRate,  ///< the sum of the port rates of the hosts concerned
    kRate,      ///< a number
  };
  Kind kind = kBaseline;
  BitRate rate = {};  ///< kRate
  constexpr GoodputReference() = default;
  constexpr GoodputReference(Kind of) : kind(of) {}  // NOLINT: a word is a reference
  constexpr explicit GoodputReference(BitRate of) : kind(kRate), rate(of) {}
  bool operator==(const GoodputReference&) const = default;
};

/// Which flows are meant: those from `source` to `destination`, and of them
/// those that `host` sends or receives. Patterns of host names ("h[1-7]");
/// empty: any. `plane`: of these, what goes over it.
struct FlowSelection {
  std::string source;
  std::string destination;
  std::string host;
  std::optional<uint32_t> plane = std::nullopt;
  bool all_hosts() const { return source.empty() && destination.empty() && host.empty(); }
  bool all() const { return all_hosts() && !plane; }
  bool operator==(const FlowSelection&) const = default;

  static void fields(auto& flows, auto&& visit) {
    visit("host", flows.host, Need::kOptional);
    visit("source", flows.source, Need::kOptional);
    visit("destination", flows.destination, Need::kOptional);
    visit("plane", flows.plane, Need::kOptional);
  }
};

}  // namespace mrclab::analysis
