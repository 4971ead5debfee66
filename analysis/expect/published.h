#pragma once
// What a check's measurement was where the thing happened first: the figure of a paper or of
// production, shown beside ours.
//
//   - {goodput: {...}, published: 87.13%, figure: "MRC paper, figure 9a: 1334 of 1531 Gb/s"}
//   - {no_qp_error, published: 0, figure: "MRC paper, section 5.1"}

#include <optional>
#include <string>

#include "fabric/text/yaml.h"

namespace mrclab::analysis {

/// What a check measures in: a CheckResult's `measured` counts percent, microseconds, Gb/s or
/// things.
enum class Measure : uint8_t { kShare, kTime, kRate, kCount };
inline constexpr int64_t kMostPublished = 1'000'000'000'000'000;  ///< a published count may be

/// "a share such as 87.13%": for the message about a wrong unit.
std::string_view example_of(Measure measure);

struct Published {
  double value = 0;  ///< in percent, microseconds, Gb/s or things
  Measure measure = Measure::kCount;
  std::string text;    ///< as in the file: "87.13%", "1.3s"
  std::string figure;  ///< the publication and its figure
  bool operator==(const Published&) const = default;
};

/// The keys `published` and `figure` of an entry, neither or both. Throws InputError if only one is
/// there, or if it is no `measure` (if that is known).
std::optional<Published> parse_published(const YamlValue& entry, std::optional<Measure> measure);

/// The two keys as they would stand in an entry: ", published: 87.13%, figure: \"...\"".
std::string to_yaml(const Published& published);

/// The number for a column whose unit is the check's: "87.13"; durations with their own: "1.3s".
std::string shown(const Published& published);

}  // namespace mrclab::analysis
