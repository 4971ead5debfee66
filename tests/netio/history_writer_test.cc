#include "netio/record/history_writer.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "fabric/base/byte_order.h"
#include "netio/record/run_recorder.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::netio;

namespace {

HistoryBytes record_at(int64_t ps) {
  HistoryBytes bytes{};
  store_be<uint64_t>(bytes.data(), static_cast<uint64_t>(ps));
  return bytes;
}

struct Parsed {
  HistoryFileHeader header;
  std::vector<CompactRecord> records;
  std::string seal;  // what stands behind them
};

Parsed read_back(const std::filesystem::path& file, uint32_t streams) {
  const std::string text = read_file(file, 1 << 24);
  const std::span<const uint8_t> bytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  REQUIRE(bytes.size() >= kHistoryHeaderBytes);
  std::string problem;
  Parsed parsed;
  parsed.header = parse_history_header(bytes.first<kHistoryHeaderBytes>(), problem).value();
  size_t at = kHistoryHeaderBytes;
  for (uint64_t i = 0; i < parsed.header.records && at < bytes.size(); ++i) {
    REQUIRE(bytes.size() - at >= kCompactRecordBytes);
    parsed.records.push_back(
        parse_compact(bytes.subspan(at).first<kCompactRecordBytes>(), streams).value());
    at += kCompactRecordBytes;
  }
  parsed.seal = text.substr(at);
  return parsed;
}

}  // namespace

TEST_CASE("every record reaches the file, in the order of the calls") {
  const netio::test::TemporaryDirectory folder;
  const auto file = folder / "a.bin";
  constexpr uint32_t kRecords = 5000;  // more than is buffered
  {
    HistoryWriter writer(file, 9, 1 << 20);
    for (uint32_t i = 0; i < kRecords; ++i) writer.write_record(record_at(i), i % 9);
  }
  const Parsed parsed = read_back(file, 9);
  CHECK(parsed.header.streams == 9);
  CHECK(parsed.header.records == kRecords);
  CHECK(parsed.header.left_out == 0);
  CHECK(parsed.header.complete == FabricTime::never());
  CHECK(parsed.seal.empty());  // the writer was not given whose records these are, nor until when
  REQUIRE(parsed.records.size() == kRecords);
  for (uint32_t i = 0; i < kRecords; ++i) {
    REQUIRE(parsed.records[i].t.ps() == i);
    REQUIRE(parsed.records[i].stream == i % 9);
  }
}

TEST_CASE("a full file keeps the first records and says up to when nothing is missing") {
  const netio::test::TemporaryDirectory folder;
  const auto file = folder / "a.bin";
  {
    HistoryWriter writer(file, 2, kHistoryHeaderBytes + 3 * kCompactRecordBytes + 31);
    for (const int64_t t : {10, 20, 30, 50, 40, 60}) writer.write_record(record_at(t), 0);
    CHECK(writer.written() == 3);
    CHECK(writer.left_out() == 3);
    writer.close({.nodes = {NodeId{0}}, .from = {}});
  }
  const Parsed parsed = read_back(file, 2);
  CHECK(parsed.records.size() == 3);
  CHECK(parsed.records.back().t.ps() == 30);
  CHECK(parsed.header.left_out == 3);
  CHECK(parsed.header.complete.ps() == 40);
  CHECK(parsed.seal.starts_with("sealed: nodes 0 from 0 ps until 40 ps, 3 records, crc32 "));
}

TEST_CASE("a file whose writer never closed it says so") {
  const netio::test::TemporaryDirectory folder;
  const auto file = folder / "a.bin";
  const HistoryWriter writer(file, 2, 1 << 20);
  const Parsed parsed = read_back(file, 2);
  CHECK(parsed.header.records == HistoryFileHeader::kUnfinished);
  CHECK(parsed.header.complete == FabricTime::zero());
}

TEST_CASE("the processes of a run share one bound by their ports") {
  const Topology topology = mrclab::test::octet();
  std::vector<uint32_t> process_of_node;
  for (const NodeSite& site : topology.nodes) {
    process_of_node.push_back(site.role == NodeRole::kHost ? 0 : 1 + site.plane);
  }
  constexpr uint64_t kBytes = 1 << 20;
  uint64_t sum = 0;
  for (uint32_t process = 0; process < 9; ++process) {
    sum += history_share(topology, process_of_node, process, kBytes);
  }
  CHECK(sum <= kBytes);
  CHECK(sum > kBytes * 99 / 100);
  CHECK(history_share(topology, process_of_node, 0, kBytes) == kBytes / 256 * 64);
}

TEST_CASE("records and events say at once that the disk is full") {
  CHECK_THROWS_AS(HistoryWriter("/dev/full", 9, 1 << 20), SystemError);
  const Topology topology = mrclab::test::pair();
  EventLog events("/dev/full");
  EventRecord event;
  event.kind = "qp_error";
  bool full = false;
  for (int i = 0; i < 10'000 && !full; ++i) {  // some find room in its buffer
    try {
      events.write(topology, NodeId{0}, event);
    } catch (const SystemError& error) {
      full = true;
      CHECK(error.kind() == ErrorKind::kDiskFull);
      CHECK(std::string(error.what()).find("/dev/full") != std::string::npos);
    }
  }
  CHECK(full);
}

TEST_CASE("windows have a bound of their own in a log, and those beyond it are counted in it") {
  const Topology topology = mrclab::test::pair();
  const netio::test::TemporaryDirectory folder;
  EventLog log(folder / "events.jsonl", 2);
  WindowRecord window;
  window.peer = NodeId{1};
  EventRecord event;
  event.kind = "qp_error";
  for (int64_t at = 1; at <= 5; ++at) {
    window.t = event.t = FabricTime::from_us(at);
    log.write(topology, NodeId{0}, window);
    log.write(topology, NodeId{0}, event);
  }
  log.close({{NodeId{0}}, FabricTime::zero()});
  std::ifstream in(folder / "events.jsonl");
  std::map<std::string, int> kinds;
  std::string last, left_out;
  uint64_t lines = 0;
  for (std::string line; std::getline(in, line); ++lines) {
    const auto json = nlohmann::json::parse(line);
    ++kinds[json.at("kind")];
    if (json.at("kind") == "windows_left_out") left_out = line;
    last = line;
  }
  CHECK(kinds == std::map<std::string, int>{
                     {"window", 2}, {"qp_error", 5}, {"windows_left_out", 1}, {"log_sealed", 1}});
  CHECK(left_out == R"({"t_ps":3000000,"node":"lab","kind":"windows_left_out","detail":"3"})");
  CHECK(last.find("until the end, 8 records") != std::string::npos);
  CHECK(lines == 9);
  CHECK(log.dropped() == 0);
}
