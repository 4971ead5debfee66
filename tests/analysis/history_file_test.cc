#include "analysis/history/history_file.h"

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

using Bytes8 = std::vector<uint8_t>;

/// Records of different streams, without a seal.
Bytes8 file_of(const HistoryFileHeader& header, uint32_t records) {
  const auto head = header_bytes(header);
  Bytes8 bytes(head.begin(), head.end());
  for (uint32_t i = 0; i < records; ++i) {
    const CompactBytes record = compact_bytes(HistoryBytes{}, i % header.streams);
    bytes.insert(bytes.end(), record.begin(), record.end());
  }
  return bytes;
}

HistoryFileHeader three() { return {.streams = 2, .records = 3, .complete = FabricTime::never()}; }

/// How many records come out; what is wrong with the file in `problem`.
uint64_t read_all(const Bytes8& bytes, std::string& problem) {
  uint64_t records = 0;
  try {
    HistoryReader reader(ByteSource(std::span<const uint8_t>(bytes)), "a.bin");
    while (reader.next()) ++records;
  } catch (const InputError& error) {
    problem = error.what();
  }
  return records;
}

}  // namespace

TEST_CASE("a whole file is read to its last record") {
  std::string problem;
  CHECK(read_all(file_of(three(), 3), problem) == 3);
  CHECK(problem == "");
}

TEST_CASE(
    "a sealed file says whose records it has; nothing of it can be cut, left out or changed") {
  const HistoryHeaderBytes head = header_bytes(three());
  Bytes8 whole = file_of(three(), 3);
  const std::span<const uint8_t> records = std::span(whole).subspan(kHistoryHeaderBytes);
  const EvidenceSeal seal{{NodeId{4}, NodeId{5}}, FabricTime::from_us(1), FabricTime::never(), 3};
  const std::string text = seal_of_history(seal, checksum(0, records), head);
  whole.insert(whole.end(), text.begin(), text.end());
  const auto seal_in = [](const Bytes8& bytes) -> std::optional<EvidenceSeal> {
    try {
      HistoryReader reader(ByteSource(std::span<const uint8_t>(bytes)), "a.bin");
      while (reader.next()) continue;
      return reader.seal();
    } catch (const InputError&) {
      return std::nullopt;
    }
  };
  REQUIRE(seal_in(whole) == seal);
  for (size_t size = 0; size < whole.size(); ++size) {
    CHECK_FALSE(seal_in(Bytes8(whole.begin(), whole.begin() + static_cast<long>(size))));
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes8 other = whole;
    other[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    CHECK_FALSE(seal_in(other));
  }
  for (size_t record = 0; record < 3; ++record) {
    Bytes8 other = whole;
    const auto at = other.begin() + static_cast<long>(kHistoryHeaderBytes + record * 32);
    other.erase(at, at + 32);
    other[31] = 2;  // as many records as there are
    CHECK_FALSE(seal_in(other));
  }
}

TEST_CASE("of an unfinished file every whole record is read") {
  HistoryFileHeader header = three();
  header.records = HistoryFileHeader::kUnfinished;
  Bytes8 bytes = file_of(header, 3);
  bytes.resize(bytes.size() - 5);
  std::string problem;
  CHECK(read_all(bytes, problem) == 2);
  CHECK(problem == "");
}

TEST_CASE("a broken file is refused with its name, the record and what is wrong") {
  struct Broken {
    const char* what;
    Bytes8 bytes;
    std::string expected;
  };
  const Bytes8 good = file_of(three(), 3);
  const auto cut = [&good](size_t size) { return Bytes8(good.begin(), good.begin() + size); };
  const auto with = [&good](size_t at, uint8_t value) {
    Bytes8 bytes = good;
    bytes[at] = value;
    return bytes;
  };
  HistoryFileHeader huge = three();
  huge.records = uint64_t{1} << 60;
  const Broken table[] = {
      {"nothing", {}, "a.bin: it ends within its header"},
      {"half a header", cut(40), "a.bin: it ends within its header"},
      {"another file", with(0, 'x'), "a.bin: this is no file of history records"},
      {"another version", with(11, 9), "a.bin: version 9 of the records; this program reads 3"},
      {"another record size", with(15, 33), "a.bin: a header that contradicts its version"},
      {"half a record", cut(48 + 40), "a.bin: it ends before record 1 of 3"},
      {"a record too many", file_of(three(), 4), "a.bin: there is more behind its last record"},
      {"more records than any disk holds", file_of(huge, 3),
       "a.bin: it ends before record 3 of 1152921504606846976"},
      {"a stream beyond the fabric", with(48 + 36 + 11, 2), "a.bin: record 1 is none"},
      {"no such event", with(48 + 12, 7), "a.bin: record 0 is none"},
      {"no such cause", with(48 + 72 + 13, 200), "a.bin: record 2 is none"},
  };
  for (const Broken& broken : table) {
    CAPTURE(broken.what);
    std::string problem;
    read_all(broken.bytes, problem);
    CHECK(problem == broken.expected);
  }
}
