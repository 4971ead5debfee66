#include "recorded/diff/history_diff.h"

#include <doctest/doctest.h>

using namespace mrclab;
using namespace mrclab::lab;

namespace {

CompactRecord packet(int64_t ns, uint32_t psn) {
  CompactRecord record;
  record.t = FabricTime::from_ns(ns);
  record.opcode = 0xCA;
  record.psn = Psn{psn};
  return record;
}

/// One run with the given streams, kept whole; the hash stands for what is in it.
struct Run {
  std::vector<HistoryStream> streams;
  KeptRecords kept;

  void stream(const std::string& name, std::vector<CompactRecord> records) {
    HistoryStream stream;
    stream.name = name;
    stream.count = records.size();
    stream.hash.resize(kStreamHashBytes);
    for (const CompactRecord& record : records) {
      stream.hash[record.psn.value() % kStreamHashBytes] += static_cast<uint8_t>(record.t.ns());
    }
    streams.push_back(stream);
    kept.streams[name] = std::move(records);
  }
  void keep_only(const std::string& name, size_t records) { kept.streams[name].resize(records); }
};

std::vector<StreamDifference> compare(const Run& a, const Run& b) {
  return compare_histories(a.streams, a.kept, b.streams, b.kept, {"h0:p0/in", "h0:p0/out", "z/in"});
}

}  // namespace

TEST_CASE("streams with the same count and hash do not differ") {
  Run run;
  run.stream("h0:p0/in", {packet(1, 1)});
  CHECK(compare(run, run).empty());
}

TEST_CASE("the first difference is the earliest in fabric time, not the first stream's") {
  Run a, b;
  a.stream("h0:p0/in", {packet(1, 1), packet(9, 2)});
  b.stream("h0:p0/in", {packet(1, 1), packet(8, 2)});
  a.stream("z/in", {packet(2, 1), packet(5, 2)});
  b.stream("z/in", {packet(2, 1), packet(6, 2)});
  const auto found = compare(a, b);
  REQUIRE(found.size() == 2);
  CHECK(found[0].name == "z/in");
  CHECK(found[0].index == 1);
  CHECK(found[0].t == FabricTime::from_ns(5));
  CHECK(found[1].t == FabricTime::from_ns(8));
}

TEST_CASE("differences at one instant come in the order of nodes and ports") {
  Run a, b;
  a.stream("z/in", {packet(5, 2)});
  b.stream("z/in", {packet(5, 3)});
  a.stream("h0:p0/out", {packet(5, 2)});
  b.stream("h0:p0/out", {packet(5, 3)});
  CHECK(compare(a, b).front().name == "h0:p0/out");
}

TEST_CASE("a stream that ends in one run differs where the other goes on") {
  Run a, b;
  a.stream("h0:p0/in", {packet(1, 1)});
  b.stream("h0:p0/in", {packet(1, 1), packet(7, 2)});
  const auto found = compare(a, b);
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 1);
  CHECK_FALSE(found[0].a);
  CHECK(found[0].b == packet(7, 2));
  CHECK(found[0].t == FabricTime::from_ns(7));
}

TEST_CASE("a stream that one fabric alone has differs from its first record on") {
  Run a, b;
  a.stream("h0:p0/in", {packet(3, 1)});
  const auto found = compare(a, b);
  REQUIRE(found.size() == 1);
  CHECK(found[0].index == 0);
  CHECK(found[0].a == packet(3, 1));
  CHECK(found[0].count_b == 0);
}

TEST_CASE("records that were not kept are no difference: the stream is known to differ, no more") {
  Run a, b;
  a.stream("h0:p0/in", {packet(1, 1), packet(2, 2), packet(3, 3)});
  b.stream("h0:p0/in", {packet(1, 1), packet(2, 2), packet(4, 3)});
  b.keep_only("h0:p0/in", 2);
  const auto found = compare(a, b);
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].index);
  CHECK(found[0].t == FabricTime::never());
  CHECK(found[0].count_b == 3);
}

TEST_CASE("a packet is the same whatever became of it, and found again further on") {
  CompactRecord dropped = packet(4, 7);
  dropped.event = PacketEvent::kDropped;
  dropped.ev = {5};
  CHECK(same_packet(packet(1, 7), dropped));
  CHECK_FALSE(same_record(packet(4, 7), dropped));
  CHECK_FALSE(same_packet(packet(1, 7), packet(1, 8)));
  CHECK_FALSE(same_packet(CompactRecord{}, CompactRecord{}));  // no MRC packets
  const std::vector<CompactRecord> records{packet(1, 7), packet(2, 8), packet(3, 7)};
  CHECK(find_packet(records, 1, packet(9, 7)) == 2);
  CHECK_FALSE(find_packet(records, 1, packet(9, 9)));
}
