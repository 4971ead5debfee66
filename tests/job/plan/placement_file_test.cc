// Ranks on hosts as files of launchers have them, and several ranks on one host.

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "job/plan/job_keys.h"
#include "job/plan/plan_job.h"
#include "job/run/ideal_run.h"
#include "job/run/job_summary.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

struct HostFileFolder {
  HostFileFolder() {
    std::string name = std::filesystem::temp_directory_path() / "mrclab-hosts-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~HostFileFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

/// A byte a nanosecond, and a tenth of a microsecond one way.
constexpr IdealNetwork kSharedNetwork{BitRate::from_gbps(8), FabricTime::from_ns(100)};

JobSpec placed_entry(const std::string& ranks,
                     const std::string& phases = "[{c: {compute: 1us}}]") {
  const Topology topology = test::octet();
  NameResolver names(topology, 1);
  return read_job(read_yaml_text("{ranks: " + ranks + ", phases: " + phases + "}", "a.yaml"),
                  names);
}

FabricTime shared_time(const std::string& ranks, const std::string& more = "") {
  const PlannedJob job = plan_job(
      placed_entry(ranks + more, "[{x: {send: {group: all, to: right, size: 1000B}}}]"), 1);
  FabricTime last;
  for (const OpTime& time : ideal_times(JobProgram(job.graph, job.sites), kSharedNetwork)) {
    REQUIRE(time.end != FabricTime::never());
    last = std::max(last, time.end);
  }
  return last;
}

}  // namespace

TEST_CASE("ranks stand on the hosts that a file of a launcher names, in its order") {
  const HostFileFolder folder;
  std::ofstream(folder.path / "hosts.txt") << "h3 slots=2\nh1\n";
  const std::string file = "{file: " + (folder.path / "hosts.txt").string();
  CHECK(placed_entry(file + ", format: hostfile}").hosts == std::vector<uint32_t>{3, 3, 1});
  std::ofstream(folder.path / "hosts.txt") << "gpu[07-08]\ngpu07\n";
  const JobSpec spec = placed_entry(file + ", format: slurm, on: [h5, h2]}");
  CHECK(spec.hosts == std::vector<uint32_t>{5, 2, 5});
  // What is written needs no file.
  CHECK(job_text(spec).find("ranks: [h5, h2, h5]") != std::string::npos);
  CHECK(test::error_of([&] {
          placed_entry(file + ", format: slurm}");
        }).find("hosts.txt:1: a host that the fabric has not: expected h0 to h7") !=
        std::string::npos);
  CHECK(test::error_of([&] {
          placed_entry(file + ", format: slurm, on: [h5]}");
        }).find("as many as the file names") != std::string::npos);
  CHECK(test::error_of([&] {
          placed_entry("{file: none, format: slurm}");
        }).find("none: cannot be read") != std::string::npos);
}

TEST_CASE("mistakes in where ranks are are refused by name") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{file: a}", "no \"format\""},
      {"{hosts: h0, slots: 2, format: slurm}", "\"format\" without a file"},
      {"{file: a, format: slurm, slots: 2}", "\"slots\" beside a file"},
      {"{slots: 2}", "neither \"file\" nor \"hosts\""},
      {"{hosts: [h0, h0], slots: 2}", "h0 twice"},
      {"h0", "1 ranks"},
      {"{hosts: all, slots: 1024}", "8192 ranks"},
      {"[h0, h1], hosts: all", "\"hosts\" and \"ranks\""},
      {"[h0, h1], local: {rate: 8Gb/s}", "a host with several ranks"}};
  for (const auto& row : cases) {
    const std::string ranks = row.first, expected = row.second;
    CAPTURE(ranks);
    const std::string error = test::error_of([&] { placed_entry(ranks); });
    CAPTURE(error);
    CHECK(error.find(expected) != std::string::npos);
  }
}

TEST_CASE("ranks of one host share its NIC, and copy to each other without it") {
  using test::ns;
  // A message takes 1000 ns, 100 ns there and as long back.
  CHECK(shared_time("[h0, h1, h2, h3]") == ns(1200));
  CHECK(shared_time("[h0, h1, h0, h1]") == ns(2200));
  CHECK(shared_time("{hosts: h0, slots: 2}") == ns(0));
  CHECK(shared_time("{hosts: h0, slots: 2}", ", local: {rate: 16Gb/s, latency: 10ns}") == ns(510));
  const PlannedJob pairs = plan_job(
      placed_entry(
          "{hosts: [h0, h1], slots: 2}, groups: {tp: 2, dp: 2}",
          "[{t: {all_reduce: {group: tp, size: 8B}}}, {d: {all_reduce: {group: dp, size: 8B}}}]"),
      1);
  const JobSummary summary = summary_of(pairs.graph, kSharedNetwork, pairs.sites);
  CHECK(summary.most_sent == 8);  // half a vector twice, to the other host
  REQUIRE(summary.latency_bound.size() == 1);
  CHECK(summary.latency_bound[0].count == 2);
  CHECK(plan_job(placed_entry("{hosts: h0, slots: 2}"), 1).notes.at(0) ==
        "2 ranks on 1 hosts: messages within a host are copied there, in no time");
}
