#include "analysis/capture/open_capture.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/base/random.h"
#include "tests/support/capture_writer.h"

namespace mrclab::analysis {
namespace {

using test::CaptureWriter;
using test::kInbound;
using test::kOutbound;
using test::ScratchFile;

const std::vector<uint8_t> kBytes{1, 2, 3, 4, 5};

struct Seen {
  std::string interface;
  CaptureDirection direction;
  FabricTime t;
  std::vector<uint8_t> bytes;
  uint32_t original;
  std::string comment;
};

std::vector<Seen> read_all(CaptureReader& reader) {
  std::vector<Seen> seen;
  CaptureRecord r;
  while (reader.next(r)) {
    seen.push_back({reader.interfaces()[r.interface].name,
                    r.direction,
                    r.t,
                    {r.bytes.begin(), r.bytes.end()},
                    r.original_length,
                    std::string(r.comment)});
  }
  return seen;
}

std::vector<Seen> read_all(const std::vector<uint8_t>& bytes, CaptureOptions options = {}) {
  return read_all(*capture_in_memory(bytes, options));
}

CaptureWriter sample(CaptureWriter::Options options = {}) {
  CaptureWriter writer(options);
  writer.interface("h3:p2");
  writer.interface("p0.t0-0:drop");
  writer.packet(0, kOutbound, 1'000'000'123, kBytes, 4242);
  writer.packet(1, kInbound, 1'000'000'500, kBytes, 5, "drop: wire_loss p0.t0-0:d1 in");
  return writer;
}

TEST_CASE("interface, direction, time, original length and comment come out of a pcapng file") {
  for (const bool big_endian : {false, true}) {
    CAPTURE(big_endian);
    const std::vector<Seen> seen = read_all(sample({.big_endian = big_endian}).bytes());
    REQUIRE(seen.size() == 2);
    CHECK(seen[0].interface == "h3:p2");
    CHECK(seen[0].direction == CaptureDirection::kOutbound);
    CHECK(seen[0].t == FabricTime::from_ns(1'000'000'123));
    CHECK(seen[0].bytes == kBytes);
    CHECK(seen[0].original == 4242);
    CHECK(seen[0].comment.empty());
    CHECK(seen[1].interface == "p0.t0-0:drop");
    CHECK(seen[1].direction == CaptureDirection::kInbound);
    CHECK(seen[1].comment == "drop: wire_loss p0.t0-0:d1 in");
  }
}

TEST_CASE("every time resolution is converted to picoseconds") {
  struct Row {
    std::optional<uint8_t> tsresol;
    uint64_t units;
    int64_t ps;
  };
  const std::vector<Row> rows{{std::nullopt, 7, 7'000'000},  // default: microseconds
                              {uint8_t{6}, 7, 7'000'000},
                              {uint8_t{9}, 7, 7'000},
                              {uint8_t{12}, 7, 7},
                              {uint8_t{15}, 7'999, 7},
                              {uint8_t{0}, 2, 2'000'000'000'000},
                              {uint8_t{0x80 | 10}, 1024, 1'000'000'000'000},
                              {uint8_t{0x80 | 20}, 1, 953'674}};
  for (const Row& row : rows) {
    CAPTURE(row.ps);
    CaptureWriter writer({.tsresol = row.tsresol});
    writer.interface("a");
    writer.packet(0, kInbound, row.units, kBytes, 5);
    const std::vector<Seen> seen = read_all(writer.bytes());
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].t.ps() == row.ps);
  }
}

TEST_CASE("a time that is not representable skips the record and is counted") {
  for (const uint8_t tsresol : {uint8_t{0}, uint8_t{20}, uint8_t{0x80 | 64}}) {
    CaptureWriter writer({.tsresol = tsresol});
    writer.interface("a");
    writer.packet(0, kInbound, uint64_t{1} << 40, kBytes, 5);
    const auto reader = capture_in_memory(writer.bytes());
    CHECK(read_all(*reader).empty());
    CHECK(reader->counters().time_out_of_range == 1);
  }
}

TEST_CASE("the time offset of an interface is added, and rebase takes whole seconds off again") {
  CaptureWriter writer({.tsoffset = 1'700'000'000});
  writer.interface("a");
  writer.packet(0, kInbound, 5, kBytes, 5);
  writer.packet(0, kInbound, 1'000'000'006, kBytes, 5);
  CHECK(read_all(writer.bytes()).empty());  // wall-clock picoseconds do not fit
  const std::vector<Seen> seen = read_all(writer.bytes(), {.rebase = true});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].t == FabricTime::from_ns(5));
  CHECK(seen[1].t == FabricTime::from_ns(1'000'000'006));
}

TEST_CASE("each section has its own byte order and its own interfaces") {
  CaptureWriter little = sample();
  CaptureWriter big({.big_endian = true});
  big.interface("h7:p1");
  big.packet(0, kInbound, 9, kBytes, 5);
  std::vector<uint8_t> both = little.bytes();
  both.insert(both.end(), big.bytes().begin(), big.bytes().end());
  const std::vector<Seen> seen = read_all(both);
  REQUIRE(seen.size() == 3);
  CHECK(seen[2].interface == "h7:p1");
  CHECK(seen[2].t == FabricTime::from_ns(9));
}

TEST_CASE("a packet of an interface that was not described is skipped and counted") {
  CaptureWriter writer = sample();
  writer.packet(2, kInbound, 9, kBytes, 5);
  const auto reader = capture_in_memory(writer.bytes());
  CHECK(read_all(*reader).size() == 2);
  CHECK(reader->counters().unknown_interface == 1);
}

TEST_CASE("a block that contradicts itself is skipped and the next one is read") {
  CaptureWriter writer = sample();
  std::vector<uint8_t> body;
  for (const uint32_t word : {0u, 0u, 0u, 4000u, 4000u}) writer.put32(body, word);
  writer.block(6, body);                     // length 4000 bytes, has none
  writer.block(6, std::vector<uint8_t>(8));  // shorter than its fixed part
  writer.block(1, std::vector<uint8_t>(4));  // interface without body keeps its number
  writer.packet(0, kInbound, 9, kBytes, 5);
  const auto reader = capture_in_memory(writer.bytes());
  CHECK(read_all(*reader).size() == 3);
  CHECK(reader->counters().malformed_blocks == 3);
  CHECK(reader->interfaces().size() == 3);
}

TEST_CASE("simple and obsolete packet blocks are read, unknown blocks passed over") {
  CaptureWriter writer = sample();
  std::vector<uint8_t> simple;
  writer.put32(simple, 5);
  simple.insert(simple.end(), kBytes.begin(), kBytes.end());
  writer.block(3, simple);
  std::vector<uint8_t> obsolete;
  writer.put16(obsolete, 1);
  writer.put16(obsolete, 0);
  for (const uint32_t word : {0u, 77u, 5u, 60u}) writer.put32(obsolete, word);
  obsolete.insert(obsolete.end(), kBytes.begin(), kBytes.end());
  writer.block(2, obsolete);
  writer.block(0x0BAD, kBytes);
  const auto reader = capture_in_memory(writer.bytes());
  const std::vector<Seen> seen = read_all(*reader);
  REQUIRE(seen.size() == 4);
  CHECK(seen[2].bytes == kBytes);
  CHECK(seen[3].interface == "p0.t0-0:drop");
  CHECK(seen[3].t == FabricTime::from_ns(77));
  CHECK(seen[3].original == 60);
  CHECK(reader->counters().unknown_blocks == 1);
}

TEST_CASE("a file cut anywhere gives what came before the cut, then an error that says where") {
  const std::vector<uint8_t> whole = sample().bytes();
  for (size_t size = 12; size < whole.size(); ++size) {
    const std::vector<uint8_t> part(whole.begin(), whole.begin() + static_cast<long>(size));
    const auto reader = capture_in_memory(part);
    CaptureRecord record;
    size_t records = 0;
    try {
      while (reader->next(record)) ++records;
    } catch (const CaptureError& error) {
      CHECK(std::string(error.what()).find("at byte") != std::string::npos);
    }
    CHECK(records <= 2);
  }
}

TEST_CASE("a block length that is impossible or absurd is an error") {
  for (const uint32_t length : {0u, 4u, 13u, 0xFFFF'FFF0u, uint32_t{kMaxBlockBytes} + 4}) {
    CAPTURE(length);
    CaptureWriter writer = sample();
    writer.put32(writer.bytes(), 6);
    writer.put32(writer.bytes(), length);
    writer.bytes().resize(writer.bytes().size() + 100);
    const auto reader = capture_in_memory(writer.bytes());
    CHECK_THROWS_AS(read_all(*reader), CaptureError);
  }
}

TEST_CASE("any corruption of a file gives records, skips or an error") {
  const std::vector<uint8_t> whole = sample().bytes();
  uint64_t records = 0, errors = 0;
  for (uint64_t i = 0; i < 20'000; ++i) {
    std::vector<uint8_t> bytes = whole;
    const uint64_t changes = 1 + mix64(i) % 8;
    for (uint64_t c = 0; c < changes; ++c) {
      const uint64_t r = mix64(i * 64 + c + 1);
      bytes[r % bytes.size()] = static_cast<uint8_t>(r >> 32);
    }
    try {
      records += read_all(bytes).size();
    } catch (const CaptureError&) {
      ++errors;
    }
  }
  CHECK(records > 0);
  CHECK(errors > 0);
}

TEST_CASE("a classic pcap is read through libpcap, in both byte orders, with us and ns") {
  struct Row {
    uint32_t magic;
    bool big_endian;
    int64_t ns;
  };
  for (const Row& row : {Row{0xA1B2C3D4, false, 42'000}, Row{0xA1B2C3D4, true, 42'000},
                         Row{0xA1B23C4D, false, 42}, Row{0xA1B23C4D, true, 42}}) {
    CAPTURE(row.magic);
    CaptureWriter order({.big_endian = row.big_endian});
    std::vector<uint8_t> bytes;
    order.put32(bytes, row.magic);
    order.put16(bytes, 2);
    order.put16(bytes, 4);
    for (const uint32_t word : {0u, 0u, 65535u, 1u, 3u, 42u, 5u, 1500u}) order.put32(bytes, word);
    bytes.insert(bytes.end(), kBytes.begin(), kBytes.end());
    const ScratchFile file("h1:p0.pcap");
    std::ofstream(file.path(), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    const auto reader = open_capture(file.path());
    const std::vector<Seen> seen = read_all(*reader);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].interface.ends_with("h1:p0"));
    CHECK(seen[0].t == FabricTime::from_ns(3'000'000'000 + row.ns));
    CHECK(seen[0].bytes == kBytes);
    CHECK(seen[0].original == 1500);
    CHECK(seen[0].direction == CaptureDirection::kUnknown);
  }
}

TEST_CASE("a file larger than the read buffer is read whole") {
  CaptureWriter writer;
  writer.interface("a");
  const std::vector<uint8_t> bytes(160, 0x5A);
  constexpr size_t kRecords = 5'000;  // over a megabyte
  for (uint64_t i = 0; i < kRecords; ++i) writer.packet(0, kInbound, i, bytes, 4242);
  const ScratchFile file("large.pcapng");
  writer.save(file.path());
  const std::vector<Seen> seen = read_all(*open_capture(file.path()));
  REQUIRE(seen.size() == kRecords);
  CHECK(seen.back().t == FabricTime::from_ns(kRecords - 1));
  CHECK(std::all_of(seen.begin(), seen.end(), [&](const Seen& s) { return s.bytes == bytes; }));
}

TEST_CASE(
    "a seal is told to who wants it, however long the file; without it the records are the same") {
  CaptureWriter writer;
  writer.interface("a");
  const std::vector<uint8_t> bytes(160, 0x5A);
  EvidenceSeal seal;
  seal.records = 5'000;  // over a megabyte, so the checksum is made of several buffers
  for (uint64_t i = 0; i < seal.records; ++i) writer.packet(0, kInbound, i, bytes, 4242);
  const ScratchFile file("sealed.pcapng");
  writer.save_sealed(file.path(), seal);
  for (const bool wants_seal : {true, false}) {
    CAPTURE(wants_seal);
    const auto reader = open_capture(file.path(), {.wants_seal = wants_seal});
    CHECK(read_all(*reader).size() == seal.records);
    CHECK(reader->seal() == (wants_seal ? std::optional(seal) : std::nullopt));
  }
}

TEST_CASE("a file that is missing, empty or no capture is an error that names it") {
  const ScratchFile missing("missing.pcapng");
  CHECK_THROWS_AS(open_capture(missing.path()), CaptureError);
  const ScratchFile text("text.pcapng");
  std::ofstream(text.path()) << "this is no capture at all, whatever its name says";
  try {
    open_capture(text.path());
    FAIL("opened a text file");
  } catch (const CaptureError& error) {
    CHECK(std::string(error.what()).find("text.pcapng") != std::string::npos);
  }
}

}  // namespace
}  // namespace mrclab::analysis
