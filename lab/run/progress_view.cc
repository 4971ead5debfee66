#include "lab/run/progress_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "console/progress.h"
#include "console/terminal.h"

namespace mrclab::lab {
namespace {

constexpr size_t kBar = 30;
constexpr size_t kNarrowest = 60;  // columns
/// Rates are means over at least this much fabric time: shorter and a few packets decide.
constexpr FabricTime kRateWindow = FabricTime::from_us(10);

std::string bar(double fraction, size_t width) {
  const auto filled =
      static_cast<size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(width) + 0.5);
  return std::string(filled, '#') + std::string(width - filled, '.');
}

std::string join(const std::vector<std::string>& names, size_t width) {
  if (names.empty()) return "none";
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string next = (i == 0 ? "" : ", ") + names[i];
    const std::string more = fmt::format(" +{} more", names.size() - i);
    if (text.size() + next.size() + more.size() > width) return text + more;
    text += next;
  }
  return text;
}

std::string mebibytes(uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / 1048576.0);
}

}  // namespace

ProgressView::ProgressView(std::FILE* out, bool terminal, std::string title, double plane_rate_gbps)
    : out_(out), terminal_(terminal), title_(std::move(title)), plane_rate_gbps_(plane_rate_gbps) {}

double ProgressView::gbps(const ProgressSample& sample, size_t plane) const {
  const FabricTime elapsed = sample.now - before_.now;
  if (elapsed <= FabricTime::zero()) return 0;
  const uint64_t earlier = plane < before_.plane_bytes.size() ? before_.plane_bytes[plane] : 0;
  return static_cast<double>(sample.plane_bytes[plane] - earlier) * 8000.0 /
         static_cast<double>(elapsed.ps());
}

std::vector<std::string> ProgressView::draw(const ProgressSample& sample, size_t columns) const {
  const size_t missing = kTerminalColumns - std::clamp(columns, kNarrowest, kTerminalColumns);
  std::vector<std::string> lines;
  const double done = static_cast<double>(sample.now.ps()) /
                      static_cast<double>(std::max<int64_t>(1, sample.end.ps()));
  lines.push_back(title_);
  lines.push_back(fmt::format("fabric time {:>10} of {:<10} [{}] {:3.0f} %", to_string(sample.now),
                              to_string(sample.end), bar(done, kBar - missing), done * 100));
  lines.push_back(fmt::format("1 us of fabric time takes {:.2f} ms here{}", sample.dilation / 1000,
                              left_text(sample)));
  lines.push_back("");
  double total = 0;
  for (size_t plane = 0; plane < sample.plane_bytes.size(); ++plane) {
    const double rate = gbps(sample, plane);
    total += rate;
    lines.push_back(fmt::format("plane {:<2} {} {:7.1f} Gb/s", plane,
                                bar(rate / plane_rate_gbps_, 52 - missing), rate));
  }
  lines.push_back(fmt::format("goodput  {:>{}.2f} Tb/s", total / 1000, 60 - missing));
  lines.push_back("");
  lines.push_back("links down     " + join(sample.links_down, kTerminalColumns - 15 - missing));
  lines.push_back(
      fmt::format("EVs            {} lost, {} regained", sample.evs_lost, sample.evs_regained));
  lines.push_back(fmt::format("packets        {} retransmitted, {} trimmed, {} late",
                              sample.retransmitted, sample.trimmed, sample.late_frames));
  lines.push_back(fmt::format("verified       {}, QPs in error: {}",
                              mebibytes(sample.bytes_verified), sample.qps_in_error));
  return lines;
}

/// ", about 5 s left" at the pace of now, which may change.
std::string ProgressView::left_text(const ProgressSample& sample) {
  const FabricTime left = sample.end - sample.now;
  if (sample.dilation <= 0 || left <= FabricTime::zero()) return "";
  return ", " + about_seconds(static_cast<double>(left.ps()) * 1e-12 * sample.dilation) + " left";
}

std::string ProgressView::plain_line(const ProgressSample& sample) const {
  double total = 0;
  double lowest = plane_rate_gbps_;
  for (size_t plane = 0; plane < sample.plane_bytes.size(); ++plane) {
    total += gbps(sample, plane);
    lowest = std::min(lowest, gbps(sample, plane));
  }
  return fmt::format(
      "{:>9}  {:.2f} Tb/s (lowest plane {:.0f} Gb/s)  links down {}  EVs -{} +{}  rtx {}  late {}",
      to_string(sample.now), total / 1000, lowest, sample.links_down.size(), sample.evs_lost,
      sample.evs_regained, sample.retransmitted, sample.late_frames);
}

void ProgressView::remember(const ProgressSample& sample) {
  if (sample.now - before_.now >= kRateWindow * 2) before_ = last_;
  if (sample.now - last_.now >= kRateWindow) last_ = sample;
}

void ProgressView::update(const ProgressSample& sample) {
  if (terminal_) {
    print(draw(sample, terminal_columns(out_)));
    remember(sample);
    return;
  }
  const int64_t tenth = sample.now * 10 / sample.end;
  if (tenth == tenths_printed_) return;
  tenths_printed_ = tenth;
  if (sample.now > FabricTime::zero()) fmt::print(out_, "{}\n", plain_line(sample));
  std::fflush(out_);
  before_ = sample;
}

void ProgressView::note(const std::string& line) {
  std::fprintf(out_, "%s\n", line.c_str());
  std::fflush(out_);
  lines_drawn_ = 0;  // the next drawing is below it
}

void ProgressView::finish(const ProgressSample& sample) {
  if (terminal_) print(draw(sample, terminal_columns(out_)));
}

void ProgressView::print(const std::vector<std::string>& lines) {
  if (lines_drawn_ > 0) fmt::print(out_, "\x1b[{}A", lines_drawn_);
  const size_t room = terminal_columns(out_);
  for (const std::string& line : lines) {
    fmt::print(out_, "{}\x1b[K\n", std::string_view(line).substr(0, room));
  }
  lines_drawn_ = lines.size();
  std::fflush(out_);
}

}  // namespace mrclab::lab
