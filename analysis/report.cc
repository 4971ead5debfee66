#include "analysis/report.h"

#include <algorithm>

#include "analysis/pace_chart.h"
#include "analysis/svg.h"

namespace mrclab::analysis {
namespace {

// Of the chart of the planes, in SVG user units.
constexpr double kPlaneStrip = 46, kPlaneGap = 10, kPlaneTop = 8;

std::string html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string gbps(double bps) { return fixed(bps * 1e-9, 1) + " Gb/s"; }

std::string html_after(const std::optional<FabricTime>& t, const char* zero) {
  if (!t) return "&ndash;";
  return *t == FabricTime::zero() ? zero : to_string(*t);
}

std::string or_dash(const std::optional<FabricTime>& t) { return t ? to_string(*t) : "&ndash;"; }

/// A round step so that about eight ticks cover `span` microseconds.
double tick_step(double span) {
  double step = 1;
  while (step * 10 < span) step *= 10;
  for (const double factor : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0}) {
    if (span / (step * factor) <= 9) return step * factor;
  }
  return step;
}

class Chart {
 public:
  Chart(const Measurements& m, std::span<const FaultSpan> faults, const Topology& topology)
      : m_(m), faults_(faults), topology_(topology) {}

  std::string draw() {
    const size_t planes = m_.planes.bytes.size();
    scale();
    const double bottom = kPlaneTop + static_cast<double>(planes) * (kPlaneStrip + kPlaneGap);
    out_ = "<svg viewBox=\"0 0 " + fixed(kChartWidth, 0) + " " + fixed(bottom + 34, 0) +
           "\" role=\"img\" aria-label=\"Goodput of each plane over fabric time\">\n";
    shade(bottom - kPlaneGap);
    for (size_t plane = 0; plane < planes; ++plane) strip(plane);
    axis(bottom - kPlaneGap);
    return out_ + "</svg>\n";
  }

 private:
  double x(FabricTime t) const {
    const double end = std::max(m_.end.us(), 1e-6);
    return kChartLeft +
           std::clamp(t.us() / end, 0.0, 1.0) * (kChartWidth - kChartLeft - kChartRight);
  }

  /// Strips share one scale, up to the highest bin of any plane, so that low load is seen too.
  void scale() {
    uint64_t highest = 0;
    for (const auto& bins : m_.planes.bytes) {
      for (const uint64_t bytes : bins) highest = std::max(highest, bytes);
    }
    top_bps_ = static_cast<double>(highest) * per_bin() * 1.05;
  }
  double per_bin() const {
    return 8e12 / static_cast<double>(std::max<int64_t>(m_.planes.bin.ps(), 1));
  }

  /// The time from the first to the last impairment of each fault, with the single outages darker.
  void shade(double bottom) {
    for (const FaultSpan& fault : faults_) {
      const FabricTime until = std::min(fault.healed_at, m_.end);
      rectangle(fault.start, until, bottom, "fault", fault.description);
    }
    size_t drawn = 0;
    constexpr size_t kMaxOutages = 500;
    for (const FaultSpan& fault : faults_) {
      for (const Impairment& i : fault.impairments) {
        if (++drawn > kMaxOutages) return;
        const uint32_t plane = topology_.port(topology_.wire(i.wire).from).plane;
        const double top = kPlaneTop + plane * (kPlaneStrip + kPlaneGap);
        outage(i, top, topology_.wire_name(i.wire));
      }
    }
  }

  void rectangle(FabricTime from, FabricTime until, double bottom, const char* kind,
                 const std::string& title) {
    const double left = x(from), width = std::max(x(until) - left, 1.5);
    out_ += std::string("<rect class=\"") + kind + "\" x=\"" + fixed(left) + "\" y=\"" +
            fixed(kPlaneTop) + "\" width=\"" + fixed(width) + "\" height=\"" +
            fixed(bottom - kPlaneTop) + "\"><title>" + html(title) + "</title></rect>\n";
  }

  void outage(const Impairment& i, double top, const std::string& title) {
    const double left = x(i.from), width = std::max(x(std::min(i.until, m_.end)) - left, 1.5);
    out_ += "<rect class=\"outage\" x=\"" + fixed(left) + "\" y=\"" + fixed(top) + "\" width=\"" +
            fixed(width) + "\" height=\"" + fixed(kPlaneStrip) + "\"><title>" + html(title) +
            "</title></rect>\n";
  }

  void strip(size_t plane) {
    const double top = kPlaneTop + static_cast<double>(plane) * (kPlaneStrip + kPlaneGap),
                 floor = top + kPlaneStrip;
    const auto& bins = m_.planes.bytes[plane];
    const double limit = top_bps_;
    std::string line = "M" + fixed(x(FabricTime::zero())) + " " + fixed(floor);
    double sum = 0;
    for (size_t i = 0; i < bins.size(); ++i) {
      const double bps = static_cast<double>(bins[i]) * per_bin();
      sum += bps;
      const double height = limit > 0 ? std::min(bps / limit, 1.0) * kPlaneStrip : 0;
      const FabricTime from = m_.planes.bin * static_cast<int64_t>(i);
      line +=
          "L" + fixed(x(from)) + " " + fixed(floor - height) + "H" + fixed(x(from + m_.planes.bin));
    }
    line += "V" + fixed(floor) + "Z";
    out_ += "<text class=\"label\" x=\"" + fixed(kChartLeft - 8) + "\" y=\"" +
            fixed(top + kPlaneStrip / 2 + 4) + "\" text-anchor=\"end\">plane " +
            std::to_string(plane) + "</text>\n<line class=\"grid\" x1=\"" + fixed(kChartLeft) +
            "\" x2=\"" + fixed(kChartWidth - kChartRight) + "\" y1=\"" + fixed(top) + "\" y2=\"" +
            fixed(top) + "\"/>\n<path class=\"goodput\" d=\"" + line + "\"><title>plane " +
            std::to_string(plane) + ": mean " +
            gbps(bins.empty() ? 0 : sum / static_cast<double>(bins.size())) + "; full height " +
            gbps(limit) + "</title></path>\n<line class=\"base\" x1=\"" + fixed(kChartLeft) +
            "\" x2=\"" + fixed(kChartWidth - kChartRight) + "\" y1=\"" + fixed(floor) + "\" y2=\"" +
            fixed(floor) + "\"/>\n";
  }

  void axis(double bottom) {
    const double span = m_.end.us();
    if (span <= 0) return;
    const double step = tick_step(span);
    for (int i = 0; i <= 10 && i * step <= span * 1.0001; ++i) {
      const double at = kChartLeft + i * step / span * (kChartWidth - kChartLeft - kChartRight);
      out_ += "<line class=\"base\" x1=\"" + fixed(at) + "\" x2=\"" + fixed(at) + "\" y1=\"" +
              fixed(bottom) + "\" y2=\"" + fixed(bottom + 5) + "\"/><text class=\"tick\" x=\"" +
              fixed(at) + "\" y=\"" + fixed(bottom + 19) + "\" text-anchor=\"middle\">" +
              fixed(i * step, step < 1 ? 1 : 0) + "</text>\n";
    }
    out_ += "<text class=\"tick\" x=\"" + fixed(kChartWidth - kChartRight) + "\" y=\"" +
            fixed(bottom + 34) + "\" text-anchor=\"end\">fabric time, &#181;s</text>\n";
  }

  const Measurements& m_;
  std::span<const FaultSpan> faults_;
  const Topology& topology_;
  double top_bps_ = 0;
  std::string out_;
};

constexpr const char* kStyle = R"(
:root{--ink:#1d2430;--soft:#667085;--line:#d9dee7;--paper:#fff;--back:#f5f7fa;--blue:#3b6fd4;
--fill:#9dbcf2;--pass:#1a7f4b;--fail:#c2283a;--inconclusive:#a86400}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ef;--soft:#98a2b3;--line:#333b48;--paper:#1a1f28;
--back:#12161d;--blue:#7fa6f5;--fill:#345596;--pass:#4ec98a;--fail:#ff7a86;--inconclusive:#f0b354}}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1000px;margin:0 auto;padding:32px 20px 60px}
h1{font-size:26px;margin:0}h2{font-size:17px;margin:0 0 12px}
.sub{color:var(--soft);margin:2px 0 22px}section{background:var(--paper);border:1px solid var(--line);
border-radius:10px;padding:18px 20px;margin:0 0 18px}
.badge{display:inline-block;border-radius:6px;padding:1px 10px;color:#fff;font-weight:600;
font-size:14px;vertical-align:4px;margin-left:10px}.badge.pass{background:#1a7f4b}
.badge.fail{background:#c2283a}.badge.inconclusive{background:#a86400}
table{border-collapse:collapse;width:100%;font-size:14px}
th{font-weight:600;text-align:left;color:var(--soft)}
th,td{padding:5px 10px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
tr:last-child td{border-bottom:0}.n{text-align:right;font-variant-numeric:tabular-nums}
.badge.badge{color:#fff}.pass{color:var(--pass)}.fail{color:var(--fail)}.inconclusive{color:var(--inconclusive)}
.note{color:var(--soft);font-size:13px}.numbers{display:flex;flex-wrap:wrap;gap:8px 34px}
.numbers div{min-width:110px}.numbers b{display:block;font-size:19px}
.numbers span{color:var(--soft);font-size:13px}code{overflow-wrap:anywhere;font-size:13px}
svg{width:100%;height:auto;display:block}svg text{font-size:12px;fill:var(--soft)}
.goodput{fill:var(--fill);stroke:var(--blue);stroke-width:1;fill-opacity:.75}
.fault{fill:#e8a33d;fill-opacity:.14}.outage{fill:#e0503f;fill-opacity:.18}
.pace{fill:none;stroke:var(--blue);stroke-width:1.3}.held{stroke:#e0503f;stroke-width:1.2}
.grid{stroke:var(--line);stroke-dasharray:2 4}.base{stroke:var(--line)})";

std::string number_cell(const std::string& value, const std::string& label) {
  return "<div><b>" + value + "</b><span>" + label + "</span></div>";
}

std::string display(const std::optional<double>& value) {
  if (!value) return "&ndash;";
  const bool whole = *value == static_cast<double>(static_cast<int64_t>(*value));
  return fixed(*value, whole ? 0 : 2);
}

std::string checks_section(const Verdict& verdict) {
  if (verdict.checks.empty()) return {};
  const bool any_published = published_any(verdict);
  std::string out =
      "<section><h2>Checks</h2><table><tr><th>check<th>result<th class=n>measured"
      "<th class=n>bound";
  if (any_published) out += "<th class=n>published";
  out += "<th>unit</tr>\n";
  for (const CheckResult& check : verdict.checks) {
    const std::string result{name_of(check.result)};
    out += "<tr><td>" + html(check.about.empty() ? check.name : check.about);
    if (!check.note.empty()) out += "<div class=note>" + html(check.note) + "</div>";
    const auto& published = check.published;
    if (published) out += "<div class=note>" + html(published->figure) + "</div>";
    out += "<td class=" + result + ">" + result + "<td class=n>" + display(check.measured) +
           "<td class=n>" + display(check.bound);
    if (any_published) out += "<td class=n>" + (published ? html(shown(*published)) : "&ndash;");
    out += "<td>" + html(check.unit) + "</tr>\n";
  }
  return out + "</table></section>\n";
}

std::string faults_section(const Verdict& verdict) {
  if (verdict.faults.empty()) return {};
  std::string out =
      "<section><h2>Faults</h2><table><tr><th>fault<th class=n>at<th class=n>detected after"
      "<th class=n>recovered after<th class=n>healed at</tr>\n";
  for (const FaultResult& fault : verdict.faults) {
    out += "<tr><td>" + html(fault.fault);
    if (!fault.note.empty()) out += "<div class=note>" + html(fault.note) + "</div>";
    out += "<td class=n>" + to_string(fault.at) + "<td class=n>" +
           html_after(fault.detected, "at once") + "<td class=n>" +
           html_after(fault.recovered, "no dip") + "<td class=n>" +
           (fault.healed ? or_dash(fault.healed_at) : "no") + "</tr>\n";
  }
  return out + "</table></section>\n";
}

std::string numbers_section(const Verdict& verdict) {
  const Metrics& m = verdict.metrics;
  std::string out = "<section><h2>Numbers</h2><div class=numbers>";
  out += number_cell(gbps(m.goodput_bps), "goodput");
  if (m.baseline_bps) out += number_cell(gbps(*m.baseline_bps), "baseline");
  out += number_cell(std::to_string(m.delivered), "packets delivered");
  out += number_cell(std::to_string(m.lost), "lost");
  out += number_cell(std::to_string(m.trimmed), "trimmed");
  out += number_cell(std::to_string(m.retransmitted), "sent again");
  out += "</div>";
  if (!m.history_sha256.empty()) {
    out += "<p class=note>history <code>" + html(m.history_sha256) + "</code></p>";
  }
  return out + "</section>\n";
}

std::string timing_section(const Verdict& verdict, FabricTime end) {
  const TimingReport& t = verdict.timing;
  std::string out = "<section><h2>Timing</h2><div class=numbers>";
  const bool wall = t.mode == TimingMode::kWall;
  out += number_cell(wall ? "wall clock" : t.faithful ? "FAITHFUL" : "NOT FAITHFUL", "mode");
  out += number_cell(std::to_string(t.late_frames), "late frames");
  out += number_cell(std::to_string(t.gaps), "gaps");
  out += number_cell(to_string(FabricTime::from_ns(t.min_slack_ns)), "least slack");
  out += number_cell(fixed(t.dilation_min, 0) + " / " + fixed(t.dilation_mean, 0) + " / " +
                         fixed(t.dilation_max, 0),
                     "dilation min / mean / max");
  if (!t.pace.empty()) {
    out += number_cell(std::to_string(t.holds) + " / " + std::to_string(t.jumps),
                       "times the clock waited / jumped");
  }
  out += "</div>" + pace_chart(t.pace, end);
  for (const std::string& reason : t.reasons) out += "<p class=note>" + html(reason) + "</p>";
  for (const std::string& note : verdict.notes) out += "<p class=note>" + html(note) + "</p>";
  return out + "</section>\n";
}

}  // namespace

std::string to_html(const Verdict& verdict, const Measurements& measurements,
                    std::span<const FaultSpan> faults, const Topology& topology) {
  const std::string result{name_of(verdict.result)};
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>";
  out += html(verdict.scenario) + ": " + result + "</title><style>" + kStyle +
         "</style></head><body><main>\n<h1>" + html(verdict.scenario) + "<span class=\"badge " +
         result + "\">" + result + "</span></h1>\n<p class=sub>fabric " + html(topology.name) +
         ", world " + html(verdict.world) + ", seed " + std::to_string(verdict.seed) +
         html(circumstances(verdict)) + ", mrclab " + html(verdict.version) +
         "</p>\n<section><h2>Goodput of each plane</h2>\n" +
         Chart(measurements, faults, topology).draw() +
         "<p class=note>Payload of first deliveries at the receivers, read from the captures. "
         "Amber: from a fault's start until it was undone. Red: wires that were impaired.</p>"
         "</section>\n";
  out += checks_section(verdict) + faults_section(verdict) + numbers_section(verdict) +
         timing_section(verdict, measurements.end);
  return out + "</main></body></html>\n";
}

}  // namespace mrclab::analysis
