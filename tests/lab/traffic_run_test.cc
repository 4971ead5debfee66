// `mrclab analyze` on what runs leave: it says what the judge says, from whichever captures.

#include <doctest/doctest.h>
#include <pcap/pcap.h>

#include <nlohmann/json.hpp>

#include "fabric/yaml.h"
#include "lab/traffic_input.h"
#include "netio/file_descriptor.h"
#include "tests/lab/temporary_runs.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

namespace fs = std::filesystem;

/// Losses, retransmissions, trims: an incast through a queue, and a wire that loses.
const std::string kIncast = R"(
name: traffic
fabric: octet
seed: 5
workload:
  - incast: {from: "h[1-7]", to: h0, load: 100%, message: 64KiB}
faults:
  - {at: 40us, wire_loss: {wire: "p1.t0-1:u0->p1.t1-0:d1", loss: 20%, for: 50us}}
end: 100us
expect: []
)";

nlohmann::json analyzed(const fs::path& source, const std::string& fabric = "") {
  TrafficWords words;
  words.sources = {source.string()};
  words.fabric = fabric;
  const TrafficRequest request = traffic_request(words);
  return to_json(traffic_tables(analysis::analyze_traffic(request.input), request.context));
}

/// Records and bytes of their frames, by libpcap alone.
std::pair<uint64_t, uint64_t> counted_by_libpcap(const fs::path& file) {
  char error[PCAP_ERRBUF_SIZE];
  pcap_t* pcap = pcap_open_offline(file.c_str(), error);
  REQUIRE(pcap != nullptr);
  std::pair<uint64_t, uint64_t> counted;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  while (pcap_next_ex(pcap, &header, &bytes) == 1) {
    ++counted.first;
    counted.second += header->len;
  }
  pcap_close(pcap);
  return counted;
}

void check_agreement(const Scenario& scenario) {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(scenario);
  const auto verdict = nlohmann::json::parse(netio::read_file(result.folder.path / "verdict.json"));
  const auto& metrics = verdict.at("metrics");
  const auto report = analyzed(result.folder.path);
  const auto& summary = report.at("summary");
  CHECK(summary.at("packets") == metrics.at("data_packets"));
  CHECK(summary.at("delivered") == metrics.at("delivered"));
  CHECK(summary.at("delivered_bytes") == metrics.at("delivered_bytes"));
  CHECK(summary.at("resent") == metrics.at("retransmitted"));
  CHECK(summary.at("trimmed") == metrics.at("trimmed"));
  CHECK(summary.at("lost") == metrics.at("lost"));
  CHECK(summary.at("records") == metrics.at("capture_records"));
  CHECK(metrics.at("lost") > 0);
  for (const auto& flow : report.at("flows")) CHECK(flow.at("source").get<std::string>()[0] == 'h');
  const fs::path capture = result.folder.path / "captures" / "sim.pcapng";
  const std::pair<uint64_t, uint64_t> counted = counted_by_libpcap(capture);
  CHECK(summary.at("records") == counted.first);
  CHECK(summary.at("frame_bytes") == counted.second);
  // Without the fabric the same numbers come from the packets alone.
  const auto alone = analyzed(capture);
  CHECK(alone.at("planes") == report.at("planes"));
  CHECK(alone.at("summary").at("lost") == summary.at("lost"));
}

TEST_CASE("analyze counts what the judge counts in an optic glitch" *
          doctest::test_suite(test::kWholeRun)) {
  check_agreement(load_scenario("optic-glitch"));
}

TEST_CASE(
    "analyze counts what the judge counts in a lossy incast, captured at hosts or everywhere") {
  Scenario scenario = parse_scenario(read_yaml_text(kIncast, "traffic.yaml"));
  check_agreement(scenario);
  scenario.captures = CaptureScope::kAll;
  check_agreement(scenario);
}

TEST_CASE("a fault of a run is set beside what its flows did about it" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const RunResult result = runs.run(load_scenario("optic-glitch"));
  const auto report = analyzed(result.folder.path);
  REQUIRE(report.at("faults").size() == 1);
  const auto& fault = report.at("faults")[0];
  CHECK(fault.at("left") >= 8);
  CHECK(fault.at("left") == fault.at("back"));
  CHECK(fault.at("moved_ns") < 65'000);        // links go down 20 us apart
  CHECK(fault.at("first_back_ns") > 100'000);  // after the 100 us of the first
  for (const auto& change : report.at("evs")) {
    CHECK(change.at("path").get<std::string>().starts_with("p0/"));
  }
}

}  // namespace
