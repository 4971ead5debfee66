#include "analysis/pace_chart.h"

#include <algorithm>
#include <cmath>

#include "analysis/svg.h"

namespace mrclab::analysis {
namespace {

// Of the chart of the pace, in SVG user units.
constexpr double kPaceStrip = 80, kPaceGap = 26, kPaceTop = 20;

std::string milliseconds(double ns) { return fixed(ns / 1e6, std::abs(ns) < 10e6 ? 1 : 0) + " ms"; }

class PaceChart {
 public:
  PaceChart(std::span<const PacePoint> points, FabricTime end)
      : points_(points), end_us_(std::max(end.us(), 1e-6)) {}

  std::string draw() {
    const double bottom = kPaceTop + 2 * kPaceStrip + kPaceGap;
    out_ = "<svg viewBox=\"0 0 " + fixed(kChartWidth, 0) + " " + fixed(bottom + 8, 0) +
           "\" role=\"img\" aria-label=\"Dilation and slack over fabric time\">\n";
    dilation(kPaceTop);
    slack(kPaceTop + kPaceStrip + kPaceGap);
    return out_ + "</svg>\n";
  }

 private:
  double x(FabricTime t) const {
    return kChartLeft +
           std::clamp(t.us() / end_us_, 0.0, 1.0) * (kChartWidth - kChartLeft - kChartRight);
  }
  void text(double y, const std::string& words, bool title = false) {
    const double at = title ? kChartLeft : kChartLeft - 8;
    out_ += "<text class=\"tick\" x=\"" + fixed(at) + "\" y=\"" + fixed(y) + "\" text-anchor=\"" +
            (title ? "start" : "end") + "\">" + words + "</text>\n";
  }
  void line(double y, const char* kind) {
    out_ += std::string("<line class=\"") + kind + "\" x1=\"" + fixed(kChartLeft) + "\" x2=\"" +
            fixed(kChartWidth - kChartRight) + "\" y1=\"" + fixed(y) + "\" y2=\"" + fixed(y) +
            "\"/>\n";
  }
  void path(const std::string& line) { out_ += "<path class=\"pace\" d=\"" + line + "\"/>\n"; }

  /// Logarithmic: it spans decades. A hold is drawn as the pace before it, with a mark below.
  void dilation(double top) {
    double least = 1e12, most = 0;
    for (const PacePoint& point : points_) {
      if (point.dilation <= 0) continue;
      least = std::min(least, point.dilation);
      most = std::max(most, point.dilation);
    }
    if (most <= 0) return;
    least /= 1.1;
    most *= 1.1;
    const double floor = top + kPaceStrip, span = std::log(most / least);
    text(top - 6, "dilation: lab seconds per fabric second (a red mark: the clock waited)", true);
    text(top + 8, fixed(most, 0));
    text(floor, fixed(least, 0));
    line(top, "grid");
    line(floor, "base");
    std::string curve;
    std::string holds;
    for (const PacePoint& point : points_) {
      if (point.dilation <= 0) {
        holds += "M" + fixed(x(point.t)) + " " + fixed(floor) + "v-6";
        continue;
      }
      const double y = floor - std::log(point.dilation / least) / span * kPaceStrip;
      curve += (curve.empty() ? "M" : "L") + fixed(x(point.t)) + " " + fixed(y);
    }
    path(curve);
    if (!holds.empty()) out_ += "<path class=\"held\" d=\"" + holds + "\"/>\n";
  }

  /// Linear, with 0 always in it. A span in which no frame came has no slack, so the line breaks.
  void slack(double top) {
    double least = 0, most = 1e6;
    for (const PacePoint& point : points_) {
      if (!point.slack_ns) continue;
      least = std::min(least, static_cast<double>(*point.slack_ns));
      most = std::max(most, static_cast<double>(*point.slack_ns));
    }
    const double floor = top + kPaceStrip;
    const auto y = [&](double ns) { return floor - (ns - least) / (most - least) * kPaceStrip; };
    text(top - 6, "least slack: lab time from a frame&#39;s arrival in its process to its need",
         true);
    text(top + 8, milliseconds(most));
    if (least < 0) text(floor, milliseconds(least));
    if (floor - y(0) < 1 || floor - y(0) > 14) text(y(0), "0 ms");
    line(top, "grid");
    line(y(0), "base");
    std::string curve;
    bool pen_down = false;
    for (const PacePoint& point : points_) {
      if (point.slack_ns) {
        curve += (pen_down ? "L" : "M") + fixed(x(point.t)) + " " +
                 fixed(y(static_cast<double>(*point.slack_ns)));
      }
      pen_down = point.slack_ns.has_value();
    }
    path(curve);
  }

  std::span<const PacePoint> points_;
  double end_us_;
  std::string out_;
};

}  // namespace

std::string pace_chart(std::span<const PacePoint> points, FabricTime end) {
  if (points.size() < 2) return {};
  return PaceChart(points, end).draw();
}

}  // namespace mrclab::analysis
