// Traffic in captures that others made: clocks, snap lengths, link headers, overlapping and damaged files.

#include <doctest/doctest.h>
#include <pcap/pcap.h>

#include <algorithm>
#include <filesystem>
#include <functional>

#include "analysis/capture/open_capture.h"
#include "analysis/traffic/traffic_reader.h"
#include "fabric/base/byte_order.h"
#include "tests/analysis/traffic_samples.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis::traffic_test {
namespace {

using Bytes8 = std::vector<uint8_t>;

/// One record as tcpdump would write it of a port of h0.
struct OnHost {
  uint64_t wall_ns = 0;
  std::vector<uint8_t> frame;
  uint32_t original = 0;
  bool out = false;
  std::string port;
};

/// h0 sends to h2 and gets as much from it, losing some; and each is answered now and then.
std::vector<OnHost> on_host() {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic script;
  script.until = FabricTime::from_us(200);
  script.lost = [](const SyntheticRun::Sent& s) { return s.psn % 19 == 4; };
  script.write(run);
  for (uint32_t psn = 4; psn < 150; psn += 19) {
    run.delivered(packet(psn, kB, FabricTime::from_us(40 + psn), true));
  }
  for (uint32_t psn = 0; psn < 150; psn += 5) {
    run.sack(packet(psn, kA, kStart), 0x55, Psn{psn}, 0, FabricTime::from_us(60 + psn), kB);
  }
  std::vector<OnHost> records;
  const auto reader = capture_in_memory(run.writer().bytes());
  for (CaptureRecord record; reader->next(record);) {
    const std::string& name = reader->interfaces()[record.interface].name;
    if (!name.starts_with("h0:p")) continue;
    const bool out = record.direction == CaptureDirection::kOutbound;
    std::vector<uint8_t> frame(record.bytes.begin(), record.bytes.end());
    for (int switches = out ? 0 : 3; switches > 0; --switches) shift_carrier_of(frame);
    records.push_back({1'700'000'000'000'000'000 + static_cast<uint64_t>(record.t.ps() / 1000),
                       std::move(frame), record.original_length, out, name});
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const OnHost& a, const OnHost& b) { return a.wall_ns < b.wall_ns; });
  return records;
}

struct TcpdumpOptions {
  int link_type = 1;
  bool microseconds = false;
  size_t snap = 262'144;
  /// What stands in front of the IPv6 packet; empty: the frame stays as it is.
  std::function<std::vector<uint8_t>(const OnHost&)> header = {};
};

/// By libpcap's own writer.
void save_as_tcpdump(const std::filesystem::path& file, std::span<const OnHost> records,
                     const TcpdumpOptions& options = {}) {
  pcap_t* pcap = pcap_open_dead_with_tstamp_precision(
      options.link_type, static_cast<int>(options.snap),
      options.microseconds ? PCAP_TSTAMP_PRECISION_MICRO : PCAP_TSTAMP_PRECISION_NANO);
  REQUIRE(pcap != nullptr);
  pcap_dumper_t* dumper = pcap_dump_open(pcap, file.c_str());
  REQUIRE(dumper != nullptr);
  for (const OnHost& record : records) {
    std::vector<uint8_t> bytes = record.frame;
    if (options.header) {
      bytes = options.header(record);
      bytes.insert(bytes.end(), record.frame.begin() + kEthernetBytes, record.frame.end());
    }
    const size_t kept = std::min(bytes.size(), options.snap);
    pcap_pkthdr header{};
    header.ts.tv_sec = static_cast<time_t>(record.wall_ns / 1'000'000'000);
    const auto ns = static_cast<suseconds_t>(record.wall_ns % 1'000'000'000);
    header.ts.tv_usec = options.microseconds ? ns / 1000 : ns;
    header.caplen = static_cast<bpf_u_int32>(kept);
    header.len = static_cast<bpf_u_int32>(record.original + bytes.size() - record.frame.size());
    pcap_dump(reinterpret_cast<u_char*>(dumper), &header, bytes.data());
  }
  pcap_dump_close(dumper);
  pcap_close(pcap);
}

/// What must not depend on how a capture was made.
std::vector<uint64_t> totals(const Traffic& traffic) {
  uint64_t packets = 0, resent = 0, delivered = 0, bytes = 0, duplicates = 0, reordered = 0;
  for (const TrafficFlow& f : traffic.flows) {
    packets += f.packets;
    resent += f.resent;
    delivered += f.delivered;
    bytes += f.delivered_bytes;
    duplicates += f.duplicates;
    reordered += f.reordered;
  }
  const TrafficCounters& c = traffic.counters;
  return {packets, resent, delivered, bytes, duplicates, reordered, c.sacks, c.answers_unmatched};
}

Traffic traffic_of_files(const std::vector<std::filesystem::path>& files) {
  return analyze_traffic({files, {}, {}});
}

std::vector<uint8_t> cooked(const OnHost& record, bool second) {
  std::vector<uint8_t> header(second ? 20 : 16);
  header[second ? 10 : 1] = record.out ? 4 : 0;
  store_be<uint16_t>(&header[second ? 0 : 14], kEthertypeIpv6);
  return header;
}

std::vector<uint8_t> tagged(const OnHost& record, std::initializer_list<uint16_t> tags) {
  std::vector<uint8_t> header(record.frame.begin(), record.frame.begin() + 12);
  for (const uint16_t tag : tags) {
    const size_t at = header.size();
    header.resize(at + 4);
    store_be<uint16_t>(&header[at], tag);
    store_be<uint16_t>(&header[at + 2], 0x6007);
  }
  header.push_back(0x86);
  header.push_back(0xDD);
  return header;
}

TEST_CASE("a host's traffic reads the same with any clock, snap length and link header") {
  const std::vector<OnHost> records = on_host();
  const test::ScratchFile file("tcpdump.pcap");
  save_as_tcpdump(file.path(), records);
  const std::vector<uint64_t> expected = totals(traffic_of_files({file.path()}));
  CHECK(expected[0] > 190);
  CHECK(expected[1] == 8);
  CHECK(expected[2] > 180);
  CHECK(expected[6] == 30);
  CHECK(expected[7] == 0);
  const std::vector<std::pair<const char*, TcpdumpOptions>> ways{
      {"microseconds", {.microseconds = true}},
      {"-s 128", {.snap = 128}},
      {"VLAN", {.header = [](const OnHost& r) { return tagged(r, {0x8100}); }}},
      {"VLAN, -s 128",
       {.snap = 128, .header = [](const OnHost& r) { return tagged(r, {0x8100}); }}},
      {"QinQ",
       {.header =
            [](const OnHost& r) {
              return tagged(r, {0x88A8, 0x8100});
            }}},
      {"SLL", {.link_type = 113, .header = [](const OnHost& r) { return cooked(r, false); }}},
      {"SLL2", {.link_type = 276, .header = [](const OnHost& r) { return cooked(r, true); }}},
      {"raw", {.link_type = DLT_RAW, .header = [](const OnHost&) { return Bytes8{}; }}},
  };
  for (const auto& way : ways) {
    CAPTURE(way.first);
    save_as_tcpdump(file.path(), records, way.second);
    const Traffic traffic = traffic_of_files({file.path()});
    CHECK(totals(traffic) == expected);
    CHECK(traffic.counters.cut_short + traffic.counters.not_mrc + traffic.counters.malformed == 0);
  }
  save_as_tcpdump(file.path(), records, {.snap = 96});
  const Traffic short_ones = traffic_of_files({file.path()});
  CHECK(short_ones.counters.cut_short == records.size());
  CHECK(short_ones.flows.empty());
}

TEST_CASE("a frame with a VLAN tag or a cooked header in front still carries its time") {
  const Topology topology = test::quad();
  SyntheticRun frames(topology);
  test::CaptureWriter writer;
  writer.interface("any");
  add_on_veth(writer, frames.data_frame(packet(1, kA, kStart)), 0, FabricTime::from_us(20));
  const auto reader = capture_in_memory(writer.bytes());
  CaptureRecord record;
  REQUIRE(reader->next(record));
  const OnHost one{1'700'000'000'000'000'000,
                   {record.bytes.begin(), record.bytes.end()},
                   record.original_length,
                   true,
                   "any"};
  const test::ScratchFile file("any.pcap");
  save_as_tcpdump(file.path(), std::span(&one, 1),
                  {.link_type = 276, .header = [](const OnHost& r) { return cooked(r, true); }});
  CHECK(traffic_of_files({file.path()}).first == FabricTime::from_us(20));
  save_as_tcpdump(file.path(), std::span(&one, 1),
                  {.header = [](const OnHost& r) { return tagged(r, {0x8100}); }});
  CHECK(traffic_of_files({file.path()}).first == FabricTime::from_us(20));
}

TEST_CASE(
    "a capture of a link that cannot hold MRC is refused by its name, or said beside others") {
  const std::vector<OnHost> records = on_host();
  const test::ScratchFile air("air.pcap"), wire("wire.pcap");
  save_as_tcpdump(air.path(), records, {.link_type = 105});
  save_as_tcpdump(wire.path(), records);
  CHECK_THROWS_WITH_AS(traffic_of_files({air.path()}),
                       doctest::Contains("link type 105 (IEEE802_11): expected Ethernet"),
                       CaptureError);
  const Traffic both = traffic_of_files({air.path(), wire.path()});
  CHECK(totals(both) == totals(traffic_of_files({wire.path()})));
  REQUIRE(both.notes.size() == 1);
  CHECK(both.notes[0].find("link type 105") != std::string::npos);
}

TEST_CASE("files that overlap, follow one another or are the same count every packet once") {
  const std::vector<OnHost> records = on_host();
  const test::ScratchFile whole("whole.pcap"), a("a.pcap"), b("b.pcap"), c("c.pcap");
  save_as_tcpdump(whole.path(), records);
  const Traffic one = traffic_of_files({whole.path()});
  const std::vector<uint64_t> expected = totals(one);
  const auto part = [&](size_t from, size_t to) {  // in tenths
    const size_t first = records.size() * from / 10;
    return std::span(records).subspan(first, records.size() * to / 10 - first);
  };
  const Traffic twice = traffic_of_files({whole.path(), whole.path()});
  CHECK(totals(twice) == expected);
  CHECK(twice.counters.repeats == records.size());
  CHECK(totals(traffic_of_files({whole.path(), whole.path(), whole.path()})) == expected);

  save_as_tcpdump(a.path(), part(0, 6));
  save_as_tcpdump(b.path(), part(4, 10));
  CHECK(totals(traffic_of_files({b.path(), a.path()})) == expected);
  save_as_tcpdump(b.path(), part(4, 10), {.microseconds = true});
  CHECK(totals(traffic_of_files({a.path(), b.path()})) == expected);

  save_as_tcpdump(a.path(), part(0, 3));  // as tcpdump -G cuts
  save_as_tcpdump(b.path(), part(3, 7));
  save_as_tcpdump(c.path(), part(7, 10));
  const Traffic pieces = traffic_of_files({c.path(), a.path(), b.path()});
  CHECK(totals(pieces) == expected);
  CHECK(pieces.counters.repeats == 0);

  std::vector<OnHost> planes[2];
  for (const OnHost& record : records) planes[record.port == "h0:p1"].push_back(record);
  save_as_tcpdump(a.path(), planes[0]);
  save_as_tcpdump(b.path(), planes[1]);
  CHECK(totals(traffic_of_files({a.path(), b.path()})) == expected);
}

TEST_CASE("damaged captures give traffic or an error, and never more packets than records") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic script;
  script.until = FabricTime::from_us(60);
  script.write(run);
  run.sack(packet(1, kA, kStart), 0x55, Psn{1}, 0xFF, kStart * 3, kB);
  uint64_t read = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    std::vector<uint8_t> bytes = run.writer().bytes();
    for (uint64_t i = 0; i < 1 + seed % 40; ++i) {
      const uint64_t draw = mixed(seed << 16 | i);
      bytes[(draw >> 8) % bytes.size()] = static_cast<uint8_t>(draw);
    }
    try {
      const Traffic traffic = analyze_traffic(bytes);
      uint64_t packets = 0;
      for (const TrafficFlow& f : traffic.flows) packets += f.packets + f.resent;
      CHECK(packets <= traffic.counters.records);
      ++read;
    } catch (const CaptureError&) {
    }
  }
  CHECK(read > 10);
}

}  // namespace
}  // namespace mrclab::analysis::traffic_test
