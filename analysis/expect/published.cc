#include "analysis/expect/published.h"

#include <array>
#include <cstdio>

#include "analysis/expect/source_place.h"
#include "fabric/text/enum_words.h"
#include "fabric/text/yaml_write.h"

namespace mrclab::analysis {
namespace {

constexpr auto kExamples = words_by_value<Measure>({{Measure::kShare, "a share such as 87.13%"},
                                                    {Measure::kTime, "a duration such as 1.3s"},
                                                    {Measure::kRate, "a rate such as 1334Gb/s"},
                                                    {Measure::kCount, "a count such as 0"}});

Measure measure_of(const std::string& text) {
  if (text.ends_with('%')) return Measure::kShare;
  if (text.ends_with("b/s")) return Measure::kRate;
  return text.ends_with('s') || text.ends_with("rtt") ? Measure::kTime : Measure::kCount;
}

double read_number(const YamlValue& value, Measure measure) {
  switch (measure) {
    case Measure::kShare: return static_cast<double>(value.as_probability().ppb) * 1e-7;
    case Measure::kTime: return value.as_time().us();
    case Measure::kRate: return static_cast<double>(value.as_rate().bps) * 1e-9;
    case Measure::kCount: break;
  }
  return static_cast<double>(value.as_integer(0, kMostPublished));
}

}  // namespace

std::string_view example_of(Measure measure) { return kExamples[static_cast<size_t>(measure)]; }

std::optional<Published> parse_published(const YamlValue& entry, std::optional<Measure> measure) {
  const auto value = entry.get("published");
  if (!value) {
    if (entry.get("figure")) entry.require("published");
    return std::nullopt;
  }
  Published published;
  published.text = value->is_scalar() ? value->as_string() : "";
  published.measure = measure_of(published.text);
  if (measure && published.measure != *measure) {
    value->fail_expecting(std::string(example_of(*measure)));
  }
  published.value = read_number(*value, published.measure);
  const YamlValue figure = entry.require("figure");
  published.figure = figure.as_string();
  if (!names_its_place(published.figure) ||
      published.figure.find_first_of("\"\\\n") != std::string::npos) {
    figure.fail_expecting(
        "its source, by section, figure, table or page, such as \"MRC paper, figure 9a\"");
  }
  return published;
}

std::string to_yaml(const Published& published) {
  return ", published: " + published.text + ", figure: " + yaml_string(published.figure);
}

std::string shown(const Published& published) {
  if (published.measure == Measure::kTime) return published.text;
  char text[48];
  const bool whole = published.value == static_cast<double>(static_cast<int64_t>(published.value));
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.2f", published.value);
  return text;
}

}  // namespace mrclab::analysis
