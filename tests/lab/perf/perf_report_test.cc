// Figures and tables of `perf`, against arithmetic by hand.

#include <doctest/doctest.h>

#include <cmath>

#include "analysis/checks/check_result.h"
#include "lab/perf/flow_report.h"
#include "lab/perf/nccl_report.h"
#include "lab/perf/perftest_report.h"
#include "lab/verbs/sweep/cli_perf.h"
#include "tests/support/times.h"

namespace mrclab::lab {
namespace {

using endpoint::CollectiveKind;
using endpoint::WorkReport;
using test::ns;

WorkReport report(uint32_t from, uint32_t to, uint64_t unit,
                  std::vector<std::pair<int64_t, int64_t>> samples_ns) {
  WorkReport r;
  r.from = from;
  r.to = to;
  r.unit = {unit};
  for (const auto& [begin, end] : samples_ns) r.record_piece(ns(begin), ns(end));
  return r;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

TEST_CASE("bandwidth is from the first posting to the last completion, the peak the best piece") {
  // 3 x 1000 bytes: done after 40, 160 and 200 ns.
  const BandwidthRow row = bandwidth_row({report(0, 1, 1000, {{0, 40}, {0, 160}, {100, 200}})});
  CHECK(row.bytes == 1000);
  CHECK(row.iterations == 3);
  CHECK(row.average_gbps == doctest::Approx(3 * 8000 / 200.0));
  CHECK(row.peak_gbps == doctest::Approx(8000 / 40.0));
  CHECK(row.mpps == doctest::Approx(3 / 0.2));
}

TEST_CASE("queue pairs of one direction are one flow of messages, directions add up") {
  const WorkReport a = report(0, 1, 500, {{0, 50}, {0, 100}});
  const WorkReport b = report(0, 1, 500, {{0, 75}, {0, 200}});
  const BandwidthRow one = bandwidth_row({a, b});
  CHECK(one.iterations == 4);
  CHECK(one.average_gbps == doctest::Approx(4 * 4000 / 200.0));
  const BandwidthRow both = bandwidth_row({a, b, report(1, 0, 500, {{0, 100}})});
  CHECK(both.average_gbps == doctest::Approx(80 + 40));
  CHECK(both.mpps == doctest::Approx(20 + 10));
}

TEST_CASE("with a duration all that was acknowledged counts over all of it, without a peak") {
  const BandwidthRow row = bandwidth_row({report(0, 1, 1000, {{0, 40}, {0, 160}})}, ns(1000));
  CHECK(row.average_gbps == doctest::Approx(16.0));
  CHECK(row.mpps == doctest::Approx(2.0));
  CHECK(row.peak_gbps == 0);
}

TEST_CASE("latency is half of a round trip, with median, deviation and percentiles") {
  std::vector<std::pair<int64_t, int64_t>> trips;
  for (int64_t i = 100; i >= 1; --i) trips.emplace_back(0, i * 2000);
  const LatencyRow row = latency_row(report(0, 1, 2, trips));
  CHECK(row.min_us == doctest::Approx(1));
  CHECK(row.max_us == doctest::Approx(100));
  CHECK(row.typical_us == doctest::Approx(50.5));
  CHECK(row.average_us == doctest::Approx(50.5));
  CHECK(row.deviation_us == doctest::Approx(std::sqrt((100.0 * 100 - 1) / 12)));
  CHECK(row.percentile_99_us == doctest::Approx(99));
  CHECK(row.percentile_99_9_us == doctest::Approx(100));
}

TEST_CASE("perftest's tables have its columns, and a row has a number under each of them") {
  CHECK(bandwidth_heading() ==
        " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n");
  CHECK(latency_heading() ==
        " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
        "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n");
  const auto bw = words_of(to_text(BandwidthRow{65536, 5000, 98.5, 97.25, 0.186974}));
  CHECK(bw == std::vector<std::string>{"65536", "5000", "98.50", "97.25", "0.186974"});
  const auto lat = words_of(to_text(LatencyRow{2, 1000, 1.5, 9, 2.25, 2.5, 0.125, 3, 4}));
  CHECK(lat == std::vector<std::string>{"2", "1000", "1.50", "9.00", "2.25", "2.50", "0.12", "3.00",
                                        "4.00"});
  CHECK(to_json(BandwidthRow{2, 5, 1, 1, 1}).dump() ==
        R"({"MsgSize":2,"n_iterations":5,"BW_peak":1.0,"BW_average":1.0,"MsgRate":1.0})");
  CHECK(to_json(LatencyRow{}).contains("percentile_99.9"));
}

TEST_CASE("a collective's time is the mean over hosts after the warm-up, busbw by nccl's factors") {
  // Warm-up until 10 us, then two iterations: 4 us each at host 0, 6 us each at host 1.
  const std::vector<WorkReport> work{
      report(0, 0, 1 << 20, {{0, 10'000}, {10'000, 14'000}, {14'000, 18'000}}),
      report(1, 1, 1 << 20, {{0, 10'000}, {10'000, 16'000}, {16'000, 22'000}})};
  const CollectiveRow row = collective_row(CollectiveKind::kAllReduce, 1 << 20, work, 1, 40);
  CHECK(row.time_us == doctest::Approx(5));
  CHECK(row.algbw == doctest::Approx(1048576 / 5e3));
  CHECK(row.busbw == doctest::Approx(row.algbw));  // 2 (n - 1) / n = 1 for two hosts
  CHECK(row.wrong == 10);
  const auto shown = [&](HostTime which) {
    return collective_row(CollectiveKind::kAllReduce, 1 << 20, work, 1, 0, which).time_us;
  };
  CHECK(shown(HostTime::kFirst) == doctest::Approx(4));
  CHECK(shown(HostTime::kShortest) == doctest::Approx(4));
  CHECK(shown(HostTime::kLongest) == doctest::Approx(6));
  CHECK(collective_row(CollectiveKind::kAllReduce, 1 << 20, work, 0, 0).time_us ==
        doctest::Approx((18.0 + 22.0) / 2 / 3));

  CHECK(bus_factor(CollectiveKind::kAllReduce, 8) == doctest::Approx(1.75));
  CHECK(bus_factor(CollectiveKind::kAllGather, 8) == doctest::Approx(0.875));
  CHECK(bus_factor(CollectiveKind::kReduceScatter, 8) == doctest::Approx(0.875));
  CHECK(bus_factor(CollectiveKind::kAllToAll, 4) == doctest::Approx(0.75));
  CHECK(bus_factor(CollectiveKind::kSendRecv, 8) == 1);
}

TEST_CASE("nccl-tests' table has its columns, and the wrong elements decide the last lines") {
  const std::string heading = nccl_heading();
  CHECK(
      heading.find(
          "#       size         count      type   redop    root     time   algbw   busbw  #wrong     time "
          "  algbw   busbw  #wrong \n") != std::string::npos);
  CHECK(heading.find("           out-of-place                       in-place          \n") !=
        std::string::npos);
  CHECK(
      heading.find(
          "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  "
          "(GB/s)  (GB/s)         \n") != std::string::npos);
  const CollectiveRow good{33554432, 8388608, 1234.56, 27.178, 47.562, 0};
  CHECK(
      nccl_row(CollectiveKind::kAllReduce, good, true) ==
      "    33554432       8388608     float     sum      -1  1234.56   27.18   47.56       0  1234.56   27.18   47.56   "
      "    0\n");
  CHECK(words_of(nccl_row(CollectiveKind::kAllToAll, good, true, "half")) ==
        std::vector<std::string>{"33554432", "8388608", "half", "none", "-1", "1234.56", "27.18",
                                 "47.56", "0", "1234.56", "27.18", "47.56", "N/A"});
  // The widths of the columns are kept where a number rounds up into another digit, and beyond.
  const CollectiveRow wide{8, 2, 99999.999, 999.996, 12345678, 0};
  CHECK(words_of(nccl_row(CollectiveKind::kAllReduce, wide, true))[5] == "100000");
  CHECK(words_of(nccl_row(CollectiveKind::kAllReduce, wide, true))[6] == "1000.0");
  CHECK(words_of(nccl_row(CollectiveKind::kAllReduce, wide, true))[7] == "1e+07");
  CHECK(words_of(nccl_row(CollectiveKind::kSendRecv, good, false)).at(3) == "none");
  CHECK(words_of(nccl_row(CollectiveKind::kSendRecv, good, false)).back() == "N/A");
  CHECK(elements_of(CollectiveKind::kAllGather, 1024, 8) == 32);
  CHECK(elements_of(CollectiveKind::kAllReduce, 1024, 8) == 256);
  CHECK(nccl_footer({good}) ==
        "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 47.562 \n#\n");
  CollectiveRow bad = good;
  bad.wrong = 3;
  bad.busbw = 0;
  CHECK(nccl_footer({good, bad}) ==
        "# Out of bounds values : 3 FAILED\n# Avg bus bandwidth    : 23.781 \n#\n");
  CHECK(nccl_json(CollectiveKind::kAllReduce, bad, true)["out_of_place"]["nwrong"] == 3);
  CHECK(nccl_json(CollectiveKind::kAllReduce, bad, false)["out_of_place"]["nwrong"].is_null());
  CHECK(nccl_json(CollectiveKind::kAllReduce, bad, true)["in_place"]["time"] == bad.time_us);
  CHECK(nccl_json(CollectiveKind::kAllReduce, bad, true)["root"] == "    -1");
}

TEST_CASE("a flow's rate is what was acknowledged in the window, messages at its edges in part") {
  // A message of 1000 bytes every 100 ns: 80 Gb/s. The window takes half of one at either end.
  std::vector<std::pair<int64_t, int64_t>> steady;
  for (int64_t i = 0; i < 20; ++i) steady.emplace_back(i * 100, (i + 1) * 100);
  const auto rows = flow_rows({report(2, 3, 1000, steady), report(1, 0, 1000, {{0, 2000}})},
                              {ns(450), ns(1550)}, 80);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "h1 -> h0");
  CHECK(rows[0].gbps == doctest::Approx(4));
  CHECK(rows[1].gbps == doctest::Approx(80));
  CHECK(rows[1].share == doctest::Approx(1));
  const FlowSummary summary = summary_of(rows);
  CHECK(summary.min == doctest::Approx(0.05));
  CHECK(summary.mean == doctest::Approx(0.525));
  CHECK(summary.total_gbps == doctest::Approx(84));
  CHECK(summary.jain == doctest::Approx(1.05 * 1.05 / (2 * (1 + 0.0025))));
}

TEST_CASE("messages that one acknowledgement covers count at its instant") {
  const auto rows =
      flow_rows({report(0, 1, 1000, {{0, 500}, {0, 500}, {0, 500}})}, {ns(400), ns(1400)}, 1);
  // A fifth of the first, and two whole ones.
  CHECK(rows.at(0).gbps == doctest::Approx(2.2 * 8));
}

TEST_CASE("wrong bytes and failed queue pairs are failures, an unfaithful run says nothing") {
  PerfOutcome outcome;
  CHECK(perf_code(outcome) == 0);
  outcome.faithful = false;
  CHECK(perf_code(outcome) == 3);
  outcome.bytes_wrong = 4;
  CHECK(perf_code(outcome) == 1);
  outcome.bytes_wrong = 0;
  outcome.qps_in_error = 1;
  CHECK(perf_code(outcome) == 1);
  CHECK(analysis::worse_exit_code(3, 1) == 1);
  CHECK(analysis::worse_exit_code(1, 3) == 1);
  CHECK(analysis::worse_exit_code(0, 3) == 3);
}

TEST_CASE("sizes are read as perftest and nccl-tests write them") {
  CHECK(perf_size("8", "-b") == 8);
  CHECK(perf_size("64K", "-b") == 65'536);
  CHECK(perf_size("2G", "-b") == 2ull << 30);
  CHECK(perf_size("1MiB", "-b") == 1 << 20);
  for (const char* bad : {"", "K", "-1", "1X", "99999999999999999999"}) {
    CHECK_THROWS(perf_size(bad, "-b"));
  }
}

}  // namespace
}  // namespace mrclab::lab
