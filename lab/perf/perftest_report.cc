#include "lab/perf/perftest_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace mrclab::lab {
namespace {

using endpoint::WorkReport;
using endpoint::WorkSample;

/// 1 bit per picosecond is 1000 Gb/s.
double gbps(double bytes, FabricTime t) {
  return t > FabricTime::zero() ? bytes * 8e3 / static_cast<double>(t.ps()) : 0;
}
double mpps(double messages, FabricTime t) {
  return t > FabricTime::zero() ? messages * 1e6 / static_cast<double>(t.ps()) : 0;
}

/// One direction: all queue pairs from one host to another.
struct FlowDirection {
  uint64_t unit = 0;
  uint64_t done = 0;
  uint64_t samples = 0;
  FabricTime first = FabricTime::never();
  FabricTime last;
  std::vector<FabricTime> posted, completed;
};

std::vector<FlowDirection> directions_of(const std::vector<WorkReport>& work) {
  std::map<std::pair<uint32_t, uint32_t>, FlowDirection> by_ends;
  for (const WorkReport& report : work) {
    FlowDirection& d = by_ends[{report.from, report.to}];
    d.unit = report.unit.value;
    d.done += report.done;
    if (report.done == 0) continue;
    d.first = std::min(d.first, report.first);
    d.last = std::max(d.last, report.last);
    for (const WorkSample& sample : report.samples) {
      d.posted.push_back(sample.from);
      d.completed.push_back(sample.to);
    }
  }
  std::vector<FlowDirection> directions;
  for (auto& [ends, direction] : by_ends) {
    std::sort(direction.posted.begin(), direction.posted.end());
    std::sort(direction.completed.begin(), direction.completed.end());
    directions.push_back(std::move(direction));
  }
  return directions;
}

/// perftest: the smallest (completed[j] - posted[i]) / (j - i + 1).
double peak_gbps(const FlowDirection& d) {
  if (d.done > WorkReport::kMaxSamples || d.posted.size() != d.done) return 0;
  double best = 0;
  for (size_t i = 0; i < d.posted.size(); ++i) {
    for (size_t j = i; j < d.completed.size(); ++j) {
      const double bytes = static_cast<double>((j - i + 1) * d.unit);
      best = std::max(best, gbps(bytes, d.completed[j] - d.posted[i]));
    }
  }
  return best;
}

/// perftest has two digits after the point, which leaves none of a rate below 0.01: of small ones three are kept.
std::string rate_text(double gbps) {
  return gbps > 0 && gbps < 0.1 ? fmt::format("{:#.3g}", gbps) : fmt::format("{:.2f}", gbps);
}

std::string field(const std::pair<std::string, std::string>& pair) {
  return fmt::format("{:<16}: {}", pair.first, pair.second);
}

}  // namespace

BandwidthRow bandwidth_row(const std::vector<WorkReport>& work) {
  BandwidthRow row;
  for (const FlowDirection& d : directions_of(work)) {
    if (d.done == 0) continue;
    row.bytes = d.unit;
    row.iterations = d.done;
    row.peak_gbps += peak_gbps(d);
    row.average_gbps += gbps(static_cast<double>(d.done * d.unit), d.last - d.first);
    row.mpps += mpps(static_cast<double>(d.done), d.last - d.first);
  }
  return row;
}

BandwidthRow bandwidth_row(const std::vector<WorkReport>& work, FabricTime duration) {
  BandwidthRow row;
  for (const FlowDirection& d : directions_of(work)) {
    row.bytes = d.unit;
    row.iterations = d.done;
    row.average_gbps += gbps(static_cast<double>(d.done * d.unit), duration);
    row.mpps += mpps(static_cast<double>(d.done), duration);
  }
  return row;
}

LatencyRow latency_row(const WorkReport& work) {
  std::vector<double> us;
  for (const WorkSample& sample : work.samples) us.push_back((sample.to - sample.from).us() / 2);
  std::sort(us.begin(), us.end());
  LatencyRow row;
  row.bytes = work.unit.value;
  row.iterations = work.done;
  const size_t n = us.size();
  double sum = 0;
  for (const double t : us) sum += t;
  row.average_us = sum / static_cast<double>(n);
  double squares = 0;
  for (const double t : us) squares += (t - row.average_us) * (t - row.average_us);
  row.deviation_us = std::sqrt(squares / static_cast<double>(n));
  const auto rank = [&](double share) {
    const auto at = static_cast<size_t>(std::ceil(share * static_cast<double>(n)));
    return us[std::clamp<size_t>(at, 1, n) - 1];
  };
  row.min_us = us.front();
  row.max_us = us.back();
  row.typical_us = n % 2 == 1 ? us[n / 2] : (us[n / 2 - 1] + us[n / 2]) / 2;
  row.percentile_99_us = rank(0.99);
  row.percentile_99_9_us = rank(0.999);
  return row;
}

// perftest's line is 87 long; ours fits a terminal of 80 columns.
std::string perftest_line() { return std::string(79, '-') + "\n"; }

std::string perftest_header(std::string_view title,
                            const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string text = perftest_line() + fmt::format("                    {}\n", title);
  for (size_t i = 0; i < fields.size(); i += 2) {
    const std::string left = field(fields[i]);
    text += i + 1 < fields.size() ? fmt::format(" {:<32}{}\n", left, field(fields[i + 1]))
                                  : fmt::format(" {}\n", left);
  }
  return text + perftest_line();
}

std::string bandwidth_heading() {
  return " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";
}

std::string latency_heading() {
  return " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
         "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n";
}

std::string to_text(const BandwidthRow& row) {
  return fmt::format(" {:<7}    {:<10}       {:<19}{:<21}{:<7.6f}\n", row.bytes, row.iterations,
                     rate_text(row.peak_gbps), rate_text(row.average_gbps), row.mpps);
}

std::string to_text(const LatencyRow& row) {
  return fmt::format(
      " {:<7} {:<11}    {:<11.2f}    {:<11.2f}  {:<15.2f}    {:<11.2f}    {:<13.2f}   {:<20.2f}   "
      "{:<7.2f}\n",
      row.bytes, row.iterations, row.min_us, row.max_us, row.typical_us, row.average_us,
      row.deviation_us, row.percentile_99_us, row.percentile_99_9_us);
}

nlohmann::ordered_json to_json(const BandwidthRow& row) {
  return {{"MsgSize", row.bytes},
          {"n_iterations", row.iterations},
          {"BW_peak", row.peak_gbps},
          {"BW_average", row.average_gbps},
          {"MsgRate", row.mpps}};
}

nlohmann::ordered_json to_json(const LatencyRow& row) {
  return {{"MsgSize", row.bytes},
          {"n_iterations", row.iterations},
          {"t_min", row.min_us},
          {"t_max", row.max_us},
          {"t_typical", row.typical_us},
          {"t_avg", row.average_us},
          {"t_stdev", row.deviation_us},
          {"percentile_99", row.percentile_99_us},
          {"percentile_99.9", row.percentile_99_9_us}};
}

}  // namespace mrclab::lab
