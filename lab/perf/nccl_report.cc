#include "lab/perf/nccl_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace mrclab::lab {
namespace {

using endpoint::CollectiveKind;
using endpoint::WorkReport;

bool reduces(CollectiveKind kind) {
  return kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter;
}

bool counts_per_host(CollectiveKind kind) {
  return kind != CollectiveKind::kAllReduce && kind != CollectiveKind::kSendRecv;
}

constexpr const char* kType = "uint32";  // sums modulo 2^32 are right in any order, unlike floats

const char* redop(CollectiveKind kind) { return reduces(kind) ? "sum" : "none"; }

/// nccl-tests' rule: two digits after the point while they fit, then fewer. It shows 0.00 of small messages; here as
/// many digits are kept as fit.
std::string number(double value, int width) {
  if (value > 0 && value < 0.1) return fmt::format("{:{}.{}f}", value, width, width - 2);
  int digits = 0;
  for (double limit = 1; value >= limit && digits < 18; limit *= 10) ++digits;
  const int precision = digits < width - 2 ? 2 : digits < width - 1 ? 1 : 0;
  return fmt::format("{:{}.{}f}", value, width, precision);
}

}  // namespace

double bus_factor(CollectiveKind kind, size_t hosts) {
  const double n = static_cast<double>(hosts);
  switch (kind) {
    case CollectiveKind::kAllReduce: return 2 * (n - 1) / n;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
    case CollectiveKind::kAllToAll: return (n - 1) / n;
    case CollectiveKind::kSendRecv: break;
  }
  return 1;
}

uint64_t elements_of(CollectiveKind kind, uint64_t bytes, size_t hosts) {
  const uint64_t elements = bytes / endpoint::kReduceElementBytes;
  return counts_per_host(kind) ? elements / hosts : elements;
}

CollectiveRow collective_row(CollectiveKind kind, uint64_t bytes,
                             const std::vector<WorkReport>& work, uint32_t warmup,
                             uint64_t wrong_bytes) {
  CollectiveRow row;
  row.bytes = bytes;
  row.count = elements_of(kind, bytes, work.size());
  row.wrong = wrong_bytes / endpoint::kReduceElementBytes;
  double sum = 0;
  for (const WorkReport& report : work) {
    const FabricTime begin = warmup == 0 ? report.first : report.samples.at(warmup - 1).to;
    sum += (report.last - begin).us() / static_cast<double>(report.done - warmup);
  }
  row.time_us = sum / static_cast<double>(work.size());
  if (row.time_us > 0) row.algbw = static_cast<double>(bytes) / row.time_us * 1e-3;
  row.busbw = row.algbw * bus_factor(kind, work.size());
  return row;
}

std::string nccl_heading() {
  const auto line = [](auto... words) {
    return fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}\n",
                       words...);
  };
  return "#\n" +
         fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place\n", "", "", "",
                     "", "") +
         line("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong") +
         line("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "");
}

std::string nccl_row(CollectiveKind kind, const CollectiveRow& row, bool checked) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}  {}  {}  {}  {:>6}\n", row.bytes,
                     row.count, kType, redop(kind), -1, number(row.time_us, 7),
                     number(row.algbw, 6), number(row.busbw, 6),
                     checked ? std::to_string(row.wrong) : "N/A");
}

double average_busbw(const std::vector<CollectiveRow>& rows) {
  double sum = 0;
  for (const CollectiveRow& row : rows) sum += row.busbw;
  return rows.empty() ? 0 : sum / static_cast<double>(rows.size());
}

std::string nccl_footer(const std::vector<CollectiveRow>& rows) {
  uint64_t wrong = 0;
  for (const CollectiveRow& row : rows) wrong += row.wrong;
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n", wrong,
                     wrong == 0 ? "OK" : "FAILED", average_busbw(rows));
}

nlohmann::ordered_json nccl_json(CollectiveKind kind, const CollectiveRow& row, bool checked) {
  nlohmann::ordered_json result{
      {"time", row.time_us}, {"alg_bw", row.algbw}, {"bus_bw", row.busbw}, {"nwrong", nullptr}};
  if (checked) result["nwrong"] = row.wrong;
  return {{"size", row.bytes},    {"count", row.count}, {"type", kType},
          {"redop", redop(kind)}, {"root", -1},         {"out_of_place", result}};
}

}  // namespace mrclab::lab
