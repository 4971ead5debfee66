#include "lab/perf/nccl_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

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

constexpr std::array kTypes{
    ElementType{"float", 4},    ElementType{"int8", 1},   ElementType{"uint8", 1},
    ElementType{"int32", 4},    ElementType{"uint32", 4}, ElementType{"int64", 8},
    ElementType{"uint64", 8},   ElementType{"half", 2},   ElementType{"double", 8},
    ElementType{"bfloat16", 2}, ElementType{"f8e4m3", 1}, ElementType{"f8e5m2", 1}};

const char* redop(CollectiveKind kind) { return reduces(kind) ? "sum" : "none"; }

/// nccl-tests' getFloatStr: two digits after the point if they fit, then fewer, then an exponent. It shows 0.00 of small
/// messages; here as many digits are kept as fit.
std::string number(double value, int width) {
  if (value > 0 && value < 0.1) return fmt::format("{:{}.{}f}", value, width, width - 2);
  for (const int digits : {2, 1, 0}) {
    std::string text = fmt::format("{:{}.{}f}", value, width, digits);
    if (text.size() <= static_cast<size_t>(width)) return text;
  }
  return fmt::format("{:{}.{}e}", value, width, width >= 7 ? 1 : 0);
}

/// One half of a row.
std::string half(const CollectiveRow& row, bool checked) {
  return fmt::format("  {}  {}  {}  {:>6}", number(row.time_us, 7), number(row.algbw, 6),
                     number(row.busbw, 6),
                     checked ? fmt::format("{:g}", static_cast<double>(row.wrong)) : "N/A");
}

/// nccl-tests cannot check an all-to-all in place.
bool checked_in_place(CollectiveKind kind, bool checked) {
  return checked && kind != CollectiveKind::kAllToAll;
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

std::span<const ElementType> element_types() { return kTypes; }

uint64_t elements_of(CollectiveKind kind, uint64_t bytes, size_t hosts, uint64_t element_bytes) {
  const uint64_t elements = bytes / element_bytes;
  return counts_per_host(kind) ? elements / hosts : elements;
}

CollectiveRow collective_row(CollectiveKind kind, uint64_t bytes,
                             const std::vector<WorkReport>& work, uint32_t warmup,
                             uint64_t wrong_bytes, HostTime which) {
  CollectiveRow row;
  row.bytes = bytes;
  row.count = elements_of(kind, bytes, work.size());
  row.wrong = wrong_bytes / endpoint::kReduceElementBytes;
  std::vector<double> us;
  for (const WorkReport& report : work) {
    const FabricTime begin = warmup == 0 ? report.first : report.samples.at(warmup - 1).to;
    us.push_back((report.last - begin).us() / static_cast<double>(report.done - warmup));
  }
  switch (which) {
    case HostTime::kFirst: row.time_us = us.front(); break;
    case HostTime::kShortest: row.time_us = *std::min_element(us.begin(), us.end()); break;
    case HostTime::kLongest: row.time_us = *std::max_element(us.begin(), us.end()); break;
    case HostTime::kMean:
      row.time_us = std::accumulate(us.begin(), us.end(), 0.0) / static_cast<double>(us.size());
  }
  if (row.time_us > 0) row.algbw = static_cast<double>(bytes) / row.time_us * 1e-3;
  row.busbw = row.algbw * bus_factor(kind, work.size());
  return row;
}

std::string nccl_heading() {
  const auto line = [](auto... words) {
    return fmt::format(
        "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6}  {:>7}  {:>6}  {:>6}  {:>6} \n",
        words...);
  };
  return "#\n" +
         fmt::format(
             "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}           out-of-place                   "
             "    in-place          \n",
             "", "", "", "", "") +
         line("size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
              "algbw", "busbw", "#wrong") +
         line("(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
              "(GB/s)", "");
}

std::string nccl_row(CollectiveKind kind, const CollectiveRow& row, bool checked,
                     std::string_view type) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", row.bytes, row.count, type,
                     redop(kind), -1, half(row, checked),
                     half(row, checked_in_place(kind, checked)));
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

nlohmann::ordered_json nccl_json(CollectiveKind kind, const CollectiveRow& row, bool checked,
                                 std::string_view type) {
  const auto half = [&](bool compared) {
    nlohmann::ordered_json result{
        {"time", row.time_us}, {"alg_bw", row.algbw}, {"bus_bw", row.busbw}, {"nwrong", nullptr}};
    if (compared) result["nwrong"] = static_cast<double>(row.wrong);
    return result;
  };
  return {{"size", row.bytes},
          {"count", row.count},
          {"type", type},
          {"redop", redop(kind)},
          {"root", fmt::format("{:6}", -1)},  // text, as there
          {"out_of_place", half(checked)},
          {"in_place", half(checked_in_place(kind, checked))}};
}

}  // namespace mrclab::lab
