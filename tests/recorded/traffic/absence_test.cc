// The line of a section without rows: "none" only where it looked and would have seen.

#include <doctest/doctest.h>

#include "analysis/traffic/traffic_reader.h"
#include "fabric/packet/pause_frame.h"
#include "recorded/run/packet_trace.h"
#include "recorded/traffic/traffic_report.h"
#include "tests/support/capture_writer.h"
#include "tests/support/errors.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::lab {
namespace {

using analysis::Traffic;

TrafficTable table_of(const Traffic& traffic, const std::string& name,
                      const TrafficContext& context = {}) {
  for (TrafficTable& table : traffic_tables(traffic, context)) {
    if (table.name == name) return std::move(table);
  }
  FAIL("no table " << name);
  return {};
}

Traffic of_mrc() {
  const Topology topology = test::quad();
  test::SyntheticRun run(topology);
  test::ScriptedTraffic{}.write(run);
  return analysis::analyze_traffic(run.writer().bytes());
}

std::vector<uint8_t> frame(uint16_t ethertype, size_t size) {
  std::vector<uint8_t> bytes(size);
  for (const size_t at : {size_t{0}, size_t{6}}) bytes[at] = 0x02;
  bytes[11] = 0x07;
  bytes[12] = static_cast<uint8_t>(ethertype >> 8);
  bytes[13] = static_cast<uint8_t>(ethertype);
  return bytes;
}

/// A packet of RC to QP 0x2a between two hosts of nobody's fabric over IPv6, with so many bytes behind BTH.
std::vector<uint8_t> rc_frame(uint8_t opcode, size_t behind) {
  std::vector<uint8_t> bytes = frame(0x86DD, 14 + 40 + 8 + 12 + behind + 4);
  bytes[14] = 0x60;
  bytes[14 + 5] = bytes[54 + 5] = static_cast<uint8_t>(8 + 12 + behind + 4);
  bytes[14 + 6] = 17;
  bytes[14 + 7] = 64;
  bytes[14 + 8] = bytes[14 + 24] = 0x20;
  bytes[14 + 23] = 1;
  bytes[14 + 39] = 2;
  bytes[54 + 2] = 0x12;
  bytes[54 + 3] = 0xB7;
  bytes[62] = opcode;
  bytes[62 + 7] = 0x2A;
  return bytes;
}

test::CaptureWriter capture_of(const std::vector<uint8_t>& bytes, size_t packets) {
  test::CaptureWriter writer;
  writer.interface("eth0");
  for (size_t i = 0; i < packets; ++i) {
    writer.packet(0, 0, 1'000 * i, bytes, static_cast<uint32_t>(bytes.size()));
  }
  return writer;
}

Traffic of_roce(size_t packets) {
  test::CaptureWriter writer = capture_of(rc_frame(0x11, 4), packets);
  return analysis::analyze_traffic(writer.bytes());
}

constexpr const char* kOfMrc[] = {"flows",           "planes",  "spray",   "paths",
                                  "formats",         "vantage", "matches", "losses",
                                  "retransmissions", "evs",     "places",  "goodput"};

TEST_CASE("of a capture of answers of RoCE alone no section says none") {
  const Traffic traffic = of_roce(20);
  REQUIRE(traffic.counters.roce == 20);
  for (const char* name : kOfMrc) {
    const TrafficTable table = table_of(traffic, name);
    CAPTURE(name);
    CHECK(table.rows.empty());
    CHECK(table.without_rows ==
          "this section is of MRC alone, and the captures have 20 records of RoCEv2");
  }
  CHECK(table_of(traffic, "rc").without_rows == "no request of RC or XRC in the captures");
  CHECK(to_text(table_of(traffic, "opcodes"), 10).find("RC         Acknowledge  20") !=
        std::string::npos);
  const std::string summary = to_text(table_of(traffic, "summary"), 10);
  CHECK(summary.find("20 records are of RoCEv2 (RC 20)") != std::string::npos);
  CHECK(summary.find("contradict") == std::string::npos);
  for (const char* zero : {"paths left", "fates known by", "NAKs", "CNPs", "packet to ACK"}) {
    CHECK_MESSAGE(summary.find(zero) == std::string::npos, zero);
  }
  CHECK(summary.find("captured where nothing tells") == std::string::npos);
}

TEST_CASE("without a packet of MRC nothing is known of MRC") {
  test::CaptureWriter writer;
  writer.interface("eth0");
  const std::vector<uint8_t> arp = frame(0x0806, 60);
  writer.packet(0, 0, 1'000, arp, 60);
  const Traffic traffic = analysis::analyze_traffic(writer.bytes());
  for (const char* name : kOfMrc) {
    CHECK(table_of(traffic, name).without_rows == "not known: the captures have no packet of MRC");
  }
  CHECK(table_of(traffic, "rc").without_rows == "no record is of RoCEv2");
  CHECK(table_of(traffic, "opcodes").without_rows == "no record is to the UDP ports 4791 or 4971");
}

TEST_CASE("none stands where packets of MRC were looked at") {
  const Traffic traffic = of_mrc();
  CHECK(table_of(traffic, "losses").without_rows == "none");
  CHECK(table_of(traffic, "retransmissions").without_rows == "none");
  CHECK(table_of(traffic, "matches").without_rows ==
        "none: the captures have no SACK, NACK or ACK of MRC");
  Traffic unknown = traffic;
  for (analysis::TrafficFlow& flow : unknown.flows) flow.by_arrivals = flow.by_answers = false;
  CHECK(table_of(unknown, "losses").without_rows ==
        "not known: nothing in the captures shows what became of packets");
}

TEST_CASE("faults and pauses are none only where a run's files say so") {
  const Traffic traffic = of_mrc();
  TrafficContext context;
  CHECK(table_of(traffic, "faults", context).without_rows == "unknown");
  context.faults_known = true;
  CHECK(table_of(traffic, "faults", context).without_rows == "none");
  CHECK(table_of(traffic, "faults", context).notes.empty());
  CHECK(table_of(traffic, "pauses", context).without_rows == "no record is a pause frame");
  context.pauses.looked = true;
  CHECK(table_of(traffic, "pauses", context).without_rows == "no port stood paused");
}

TEST_CASE("pause frames of any capture are counted by the port that asked and by priority") {
  std::vector<uint8_t> ask = frame(kPauseEthertype, 60);
  ask[15] = 0x01;
  ask[14] = 0x01;
  ask[17] = 0x08;  // priority 3
  ask[18 + 6] = 0xFF;
  std::vector<uint8_t> end = ask;
  end[18 + 6] = 0;
  test::CaptureWriter writer;
  writer.interface("eth0");
  writer.packet(0, 0, 40'000, ask, 60);
  writer.packet(0, 0, 90'000, ask, 60);
  writer.packet(0, 0, 140'000, end, 60);
  const Traffic traffic = analysis::analyze_traffic(writer.bytes());
  CHECK(traffic.counters.pauses == 3);
  const TrafficTable table = table_of(traffic, "pause_frames");
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0][0] == "02:00:00:00:00:07");
  CHECK(table.rows[0][1] == 3);
  CHECK(table.rows[0][2] == 2);
  CHECK(table.rows[0][3] == 1);
  CHECK(table.rows[0][4] == 0xFF00);
  CHECK(table.rows[0][5] == 40'000);
  CHECK(table.rows[0][6] == 140'000);
  const TrafficTable pauses = table_of(traffic, "pauses");
  REQUIRE(pauses.rows.size() == 1);
  CHECK(pauses.rows[0][2] == "02:00:00:00:00:07");
  CHECK(pauses.rows[0][3] == 3);
  CHECK(pauses.rows[0][5] == 100'000);  // from the first ask to the end
}

TEST_CASE("trace says why it cannot place the data of a queue pair, where there is some") {
  const test::ScratchFile file("other.pcapng");
  capture_of(rc_frame(0x04, 8), 3).save(file.path());
  const auto refusal = [&](uint32_t qp) {
    TraceRequest request;
    request.qp = Qpn{qp};
    request.psn = Psn{0};
    return test::error_of([&] { PacketTrace(file.path().string(), "octet", request); });
  };
  CHECK(refusal(0x2A) ==
        "found 3 packets of QP 0x2a, between addresses that are no hosts' of the fabric "
        "octet: expected --fabric with theirs; mrclab analyze needs none");
  CHECK(refusal(0x2B) == "found no data of QP 0x2b");
}

}  // namespace
}  // namespace mrclab::lab
