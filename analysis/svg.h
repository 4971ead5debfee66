#pragma once
// What the charts of report.html have in common. They share their time axis, so that one stands under
// the other.

#include <cstdio>
#include <string>

namespace mrclab::analysis {

/// In SVG user units, of every chart.
inline constexpr double kChartLeft = 70, kChartRight = 20, kChartWidth = 960;

inline std::string fixed(double value, int digits = 1) {
  char text[48];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

}  // namespace mrclab::analysis
