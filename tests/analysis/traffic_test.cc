// The streaming analyzer of traffic: what it finds in captures whose story is known.

#include <doctest/doctest.h>
#include <malloc.h>
#include <pcap/pcap.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <sstream>

#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "analysis/traffic/spray_statistic.h"
#include "analysis/traffic/traffic_reader.h"
#include "fabric/base/byte_order.h"
#include "fabric/base/random.h"
#include "fabric/packet/trailer.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis::traffic_test {
namespace {

using test::SyntheticRun;
using Bytes8 = std::vector<uint8_t>;

constexpr Path kA{0, 0}, kB{1, 1};
const FabricTime kStart = FabricTime::from_us(10);

SyntheticRun::Sent packet(uint32_t psn, Path path, FabricTime start, bool again = false) {
  SyntheticRun::Sent s;
  s.source = 0;
  s.destination = 2;
  s.psn = psn;
  s.path = path;
  s.start = start;
  s.retransmission = again;
  return s;
}

Traffic traffic_of(SyntheticRun& run, TrafficFilter filter = {}) {
  return analyze_traffic(run.writer().bytes(), filter);
}

const TrafficFlow& only_flow(const Traffic& traffic) {
  REQUIRE(traffic.flows.size() == 1);
  return traffic.flows[0];
}

TEST_CASE("what is counted is what the judge's own history of the same capture counts") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic script;
  script.lost = [](const SyntheticRun::Sent& s) { return s.psn % 17 == 3; };
  script.write(run);
  for (uint32_t psn = 3; psn < 900; psn += 17) {  // h0's, one each sent again, twice, trimmed first
    auto again = packet(psn, kB, FabricTime::from_us(1100 + psn), true);
    run.trimmed(again);
    again.start += FabricTime::from_us(20);
    run.delivered(again);
    again.start += FabricTime::from_us(20);
    again.path = kA;
    run.delivered(again);
  }
  SightingReader frames(topology);
  const auto reader = CaptureReader::from_memory(run.writer().bytes());
  frames.add(*reader);
  const PacketHistory history = join_sightings(topology, frames.take());
  const Traffic traffic = traffic_of(run);
  uint64_t packets = 0, delivered = 0, bytes = 0, duplicates = 0, resent = 0, lost = 0, trimmed = 0;
  for (const TrafficFlow& f : traffic.flows) {
    packets += f.packets;
    delivered += f.delivered;
    bytes += f.delivered_bytes;
    duplicates += f.duplicates;
    resent += f.resent;
    lost += f.lost;
    trimmed += f.trimmed;
  }
  const HistoryCounters& h = history.counters();
  CHECK(packets == history.packets().size());
  CHECK(delivered == history.deliveries().size());
  CHECK(bytes == delivered * SyntheticRun::kPayload);
  CHECK(duplicates == h.duplicate_deliveries);
  CHECK(duplicates > 10);
  CHECK(resent == h.retransmissions);
  CHECK(lost == h.dropped);
  CHECK(lost > 100);
  CHECK(trimmed == h.trimmed);
}

TEST_CASE("a retransmission is needless if an earlier attempt arrives, and needed if none does") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  run.lost(packet(1, kA, kStart), "p0.t0-1:d0", "wire_loss");
  run.delivered(packet(1, kB, kStart * 3, true));  // needed
  run.delivered(packet(2, kA, kStart));
  run.delivered(packet(2, kB, kStart * 3, true));  // it had arrived
  const auto late = packet(3, kA, kStart);
  run.leaves(late);
  run.leaves(packet(3, kB, kStart * 2, true));  // it is still on its way, and arrives
  const std::vector<uint8_t> frame = run.data_frame(late);
  run.record("h2:p0", test::kInbound, kStart * 4, frame, frame.size());
  run.delivered(packet(4, kA, kStart * 9));  // long after
  const Traffic traffic = traffic_of(run);
  const TrafficFlow& flow = only_flow(traffic);
  CHECK(flow.packets == 4);
  CHECK(flow.resent == 3);
  CHECK(flow.needed == 1);
  CHECK(flow.needless_there == 1);
  CHECK(flow.needless_underway == 1);
  CHECK(flow.duplicates == 1);
  CHECK(flow.delivered == 4);
}

TEST_CASE("a packet that arrives trimmed and, by a copy, whole needs no retransmission") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  run.trimmed(packet(1, kA, kStart));
  run.arrives_again(packet(1, kA, kStart), FabricTime::from_ns(400));
  run.delivered(packet(1, kA, kStart * 3, true));
  run.delivered(packet(2, kA, kStart * 9));  // long after
  const TrafficFlow flow = only_flow(traffic_of(run));
  CHECK(flow.delivered == 2);
  CHECK(flow.trimmed == 1);
  CHECK(flow.duplicates == 1);
  CHECK(flow.needed == 0);
  CHECK(flow.needless_there == 1);
}

/// What a switch does to it.
void shift_carrier_of(std::vector<uint8_t>& frame) {
  Ipv6Address carrier{};
  std::copy_n(frame.begin() + kOuterOffset + 24, 16, carrier.begin());
  shift_carrier(carrier);
  std::copy_n(carrier.begin(), 16, frame.begin() + kOuterOffset + 24);
}

TEST_CASE("a frame that was captured at every port of its way counts once") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  const auto s = packet(7, kB, kStart);
  std::vector<uint8_t> frame = run.data_frame(s);
  FabricTime t = kStart;
  const auto seen = [&](const char* port, uint32_t direction) {
    run.record(port, direction, t, frame, frame.size());
    t += FabricTime::from_ns(300);
  };
  const auto shift = [&frame] { shift_carrier_of(frame); };
  seen("h0:p1", test::kOutbound);
  seen("p1.t0-0:d0", test::kInbound);
  shift();
  seen("p1.t0-0:u1", test::kOutbound);
  seen("p1.t1-1:d0", test::kInbound);
  shift();
  seen("p1.t1-1:d1", test::kOutbound);
  seen("p1.t0-1:u1", test::kInbound);
  shift();
  seen("p1.t0-1:d0", test::kOutbound);
  seen("h2:p1", test::kInbound);
  const Traffic traffic = traffic_of(run);
  const TrafficFlow& flow = only_flow(traffic);
  CHECK(flow.packets == 1);
  CHECK(flow.delivered == 1);
  CHECK(flow.resent + flow.duplicates + flow.lost == 0);
  CHECK(traffic.counters.passing == 6);
  CHECK(traffic.one_way_ns.max() == 7 * 300);
}

TEST_CASE("the point nearest to the sender counts, also when another one shows the flow first") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  const std::vector<uint8_t> first = run.data_frame(packet(1, kA, kStart));
  run.record("p0.t0-0:d0", test::kInbound, kStart, first, first.size());  // the host's is missing
  const auto second = packet(2, kA, kStart);
  const FabricTime left = run.leaves(second);
  const std::vector<uint8_t> frame = run.data_frame(second);
  run.record("p0.t0-0:d0", test::kInbound, left + FabricTime::from_ns(500), frame, frame.size());
  run.record("h2:p0", test::kInbound, left + FabricTime::from_us(3), frame, frame.size());
  const Traffic traffic = traffic_of(run);
  CHECK(only_flow(traffic).packets == 1);
  CHECK(traffic.one_way_ns.max() == 3000);
}

TEST_CASE("two captures of one wire, of which neither says which end it saw, count it once") {
  const Topology topology = test::quad();
  SyntheticRun frames(topology);
  test::CaptureWriter writer;
  writer.interface("one");
  writer.interface("other");
  for (uint32_t psn = 0; psn < 10; ++psn) {
    const std::vector<uint8_t> frame = frames.data_frame(packet(psn, kA, kStart));
    for (uint32_t i = 0; i < 2; ++i) {  // their clocks are 5 us apart
      writer.packet(i, 0, 10'000 * psn + 5000 * i, frame, static_cast<uint32_t>(frame.size()));
    }
  }
  const Traffic traffic = analyze_traffic(writer.bytes());
  CHECK(only_flow(traffic).packets == 10);
  CHECK(only_flow(traffic).resent == 0);
  CHECK(traffic.counters.passing == 10);
}

TEST_CASE("reordering is a packet behind one with a higher PSN, and its distance in PSNs") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  const std::vector<uint32_t> order{1, 2, 6, 3, 4, 7, 5, 8};  // 3, 4 and 5 are reordered
  for (uint32_t i = 0; i < order.size(); ++i) {
    run.delivered(packet(order[i], kA, kStart + FabricTime::from_us(i)));
  }
  const Traffic traffic = traffic_of(run);
  CHECK(only_flow(traffic).reordered == 3);
  CHECK(only_flow(traffic).max_distance == 3);
  CHECK(traffic.distance.min() == 2);
  CHECK(traffic.held.max() == 2);  // 6 and 7, before 5 comes
}

TEST_CASE("a path that a flow leaves and takes up again is told with its times") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic script;
  script.flows = {{0, 2}};
  const FabricTime from = FabricTime::from_us(300), until = FabricTime::from_us(600);
  script.avoids = [&](const SyntheticRun::Sent& s) {
    return s.path == kB && s.start >= from && s.start < until;
  };
  script.write(run);
  const Traffic traffic = traffic_of(run);
  REQUIRE(traffic.changes.size() == 2);
  CHECK(path_of(traffic.changes[0].ev) == kB);
  CHECK_FALSE(traffic.changes[0].back);
  CHECK(traffic.changes[0].t < from);
  CHECK(traffic.changes[0].t > from - FabricTime::from_us(6));
  CHECK(traffic.changes[1].back);
  CHECK(traffic.changes[1].t >= until);
  CHECK(traffic.changes[1].t < until + FabricTime::from_us(6));
}

TEST_CASE("the round trip is from a packet to the SACK that it triggers, but for one sent again") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  const auto first = packet(1, kA, kStart), second = packet(2, kA, kStart * 2);
  const FabricTime left = run.leaves(first);
  const std::vector<uint8_t> frame = run.data_frame(first);
  run.record("h2:p0", test::kInbound, left + FabricTime::from_us(2), frame, frame.size());
  run.sack(first, 0x55, Psn{1}, 0, left + FabricTime::from_us(5), kB);
  run.lost(second, "p0.t0-1:d0", "wire_loss");
  run.delivered(packet(2, kB, kStart * 4, true));
  run.sack(packet(2, kB, kStart * 4), 0x55, Psn{2}, 0, kStart * 6, kB);
  const Traffic traffic = traffic_of(run);
  CHECK(traffic.rtt_ns.count() == 1);
  CHECK(traffic.rtt_ns.max() == 5000);
  CHECK(traffic.counters.sacks == 2);
  CHECK(traffic.counters.answers_unmatched == 0);
}

TEST_CASE("the sender could have known of losses that go on for more than a round trip") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  for (uint32_t i = 0; i < 20; ++i) {
    auto s = packet(2 * i, kA, kStart * (i + 1));
    if (i < 10) {
      run.delivered(s);
      run.sack(s, 0x55, Psn{2 * i}, 0, s.start + FabricTime::from_us(15), kB);
    } else {
      run.lost(s, "p0.t0-1:d0", "wire_down");  // at 110, 120, ... us: all but two are too late
    }
    s.psn = 2 * i + 1;
    s.path = kB;
    run.delivered(s);
  }
  const Traffic traffic = traffic_of(run);
  uint64_t lost = 0, too_late = 0;
  for (const FlowPath& path : traffic.paths) {
    lost += path.lost;
    too_late += path.lost_too_late;
  }
  CHECK(lost == 10);
  CHECK(too_late == 8);
}

TEST_CASE("filters by queue pair, path, plane, hosts and time leave what they say") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic{}.write(run);
  const auto packets = [&](TrafficFilter filter) {
    uint64_t sum = 0;
    for (const TrafficFlow& f : traffic_of(run, filter).flows) sum += f.packets;
    return sum;
  };
  CHECK(packets({}) == 4000);
  CHECK(packets({.qp = Qpn{0x101}}) == 0);
  CHECK(packets({.ev = ev_of(kA)}) == 1000);
  CHECK(packets({.plane = 1}) == 2000);
  CHECK(packets({.between = {{host_address(topology, 0), host_address(topology, 2)}}}) == 2000);
  CHECK(packets({.from = FabricTime::from_us(500)}) == doctest::Approx(2000).epsilon(0.01));
  CHECK(packets({.until = FabricTime::from_us(250)}) == doctest::Approx(1000).epsilon(0.01));
}

TEST_CASE("chi-square has the values of the textbook, and an even spray is no suspect") {
  const std::array<uint64_t, 3> uneven{10, 20, 30};
  const SprayStatistic spray = spray_statistic(uneven);
  CHECK(spray.chi_square == doctest::Approx(10));
  CHECK(spray.p == doctest::Approx(0.0067379).epsilon(1e-4));  // e^-5: two degrees of freedom
  const std::array<uint64_t, 4> even{100, 100, 100, 100};
  CHECK(spray_statistic(even).p == doctest::Approx(1));
}

TEST_CASE("quantiles of a histogram are right to its step, and ends are exact") {
  LogHistogram h;
  for (uint64_t i = 1; i <= 10'000; ++i) h.add(i);
  CHECK(h.min() == 1);
  CHECK(h.max() == 10'000);
  CHECK(h.mean() == doctest::Approx(5000.5));
  CHECK(static_cast<double>(h.quantile(0.5)) == doctest::Approx(5000).epsilon(0.07));
  CHECK(static_cast<double>(h.quantile(0.99)) == doctest::Approx(9900).epsilon(0.07));
}

TEST_CASE("a capture reads the same through gzip, zstd and xz, and a damaged one is an error") {
  namespace io = boost::iostreams;
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic{}.write(run);
  const Traffic plain = traffic_of(run);
  const std::vector<uint8_t>& bytes = run.writer().bytes();
  for (int kind = 0; kind < 3; ++kind) {
    CAPTURE(kind);
    io::filtering_streambuf<io::input> in;
    if (kind == 0) in.push(io::gzip_compressor());
    if (kind == 1) in.push(io::zstd_compressor());
    if (kind == 2) in.push(io::lzma_compressor());
    std::istringstream source(std::string(bytes.begin(), bytes.end()));
    in.push(source);
    std::ostringstream out;
    io::copy(in, out);
    const std::string packed = out.str();
    CHECK(packed.size() < bytes.size() / 2);
    test::ScratchFile file("packed.pcapng");
    const auto save = [&file](std::string_view text) {
      std::ofstream(file.path(), std::ios::binary)
          .write(text.data(), static_cast<long>(text.size()));
    };
    save(packed);
    const Traffic traffic = analyze_traffic({{file.path()}, {}, {}});
    CHECK(traffic.counters.records == plain.counters.records);
    CHECK(traffic.notes.empty());
    save(packed.substr(0, packed.size() / 2));
    const Traffic half = analyze_traffic({{file.path()}, {}, {}});
    CHECK(half.counters.records < plain.counters.records);
    CHECK(half.notes.size() == 1);
    std::string damaged = packed.substr(0, 40) + std::string(200, 'x');
    save(damaged);
    CHECK_THROWS_AS(analyze_traffic({{file.path()}, {}, {}}), CaptureError);
  }
}

/// As tcpdump writes a veth of the lab: whole frames with trailer, wall-clock time, no names.
void add_on_veth(test::CaptureWriter& writer, std::vector<uint8_t> frame, uint64_t wall_ns,
                 FabricTime end, DropCause lost = DropCause::kNone) {
  TimeTrailer trailer;
  trailer.modelled_size = static_cast<uint32_t>(frame.size());
  trailer.start = end - FabricTime::from_ns(300);
  trailer.end = end;
  trailer.flight = FabricTime::from_ns(500);
  trailer.lost = lost;
  if (lost != DropCause::kNone) {
    FramePool pool;
    const Frame voided = make_void_frame(pool, pool.copy(frame));
    frame.assign(voided.bytes().begin(), voided.bytes().end());
  }
  std::array<uint8_t, kTrailerBytes> bytes;
  write_trailer(trailer, bytes);
  frame.insert(frame.end(), bytes.begin(), bytes.end());
  writer.packet(0, 0, wall_ns, frame, static_cast<uint32_t>(frame.size()));
}

TEST_CASE("of frames with our trailer the trailer's time counts, and void frames are losses") {
  const Topology topology = test::quad();
  SyntheticRun frames(topology);
  test::CaptureWriter writer;
  writer.interface("p0");
  const uint64_t wall = 1'700'000'000'000'000'000;
  const auto one = packet(1, kA, kStart), two = packet(2, kA, kStart);
  add_on_veth(writer, frames.data_frame(one), wall, FabricTime::from_us(20));
  add_on_veth(writer, frames.data_frame(two), wall + 5'000'000, FabricTime::from_us(21),
              DropCause::kWireDown);
  const Traffic traffic = analyze_traffic(writer.bytes());
  CHECK(traffic.carried);
  CHECK(traffic.first == FabricTime::from_us(20));
  const TrafficFlow& flow = only_flow(traffic);
  CHECK(flow.packets == 2);
  CHECK(flow.lost == 1);
  CHECK(traffic.counters.drops[static_cast<size_t>(DropCause::kWireDown)] == 1);
}

TEST_CASE("ten times the packets take no more memory, and what is out of bounds is counted") {
  ConversationTable conversations;
  TrafficAnalyzer analyzer(conversations, {});
  const uint32_t conversation = conversations.find_or_add({1}, {2}, Qpn{3});
  conversations[conversation].data.sent = 0;
  conversations[conversation].data.arrived = 3;
  uint32_t sent = 0;
  const auto send = [&](uint32_t count) {
    for (uint32_t i = 0; i < count; ++i, ++sent) {
      TrafficSighting s;
      s.conversation = conversation;
      s.psn = Psn{sent};
      s.ev = ev_of({sent % 8, sent % 4});
      s.payload = 4096;
      s.t = FabricTime::from_ns(10 * sent);
      s.stage = Stage::kHostUp;
      analyzer.add(s);
      if (sent % 100 == 0) continue;  // is lost
      s.t += FabricTime::from_ns(5);
      s.stage = Stage::kHostDown;
      analyzer.add(s);
    }
    return ::mallinfo2().uordblks;
  };
  const size_t before = send(200'000);
  CHECK(send(2'000'000) <= before + 4096);
  const Traffic traffic = analyzer.finish();
  CHECK(only_flow(traffic).packets == 2'200'000);
  CHECK(only_flow(traffic).delivered == 2'178'000);
  CHECK(only_flow(traffic).lost == doctest::Approx(22'000).epsilon(0.001));

  ConversationTable many;
  for (uint32_t i = 0; i < ConversationTable::kMax; ++i) many.find_or_add({1}, {2}, Qpn{i});
  CHECK(many.find_or_add({1}, {2}, Qpn{0xFFFFFF}) == ConversationTable::kNone);
}

// ---- captures from elsewhere ----------------------------------------------------------------------

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
  const auto reader = CaptureReader::from_memory(run.writer().bytes());
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
  const auto reader = CaptureReader::from_memory(writer.bytes());
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
