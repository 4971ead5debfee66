// The streaming analyzer of traffic: what it finds in captures whose content is given.

#include <doctest/doctest.h>
#include <malloc.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_streambuf.hpp>
#include <set>
#include <sstream>

#include "analysis/capture/open_capture.h"
#include "analysis/history/packet_joiner.h"
#include "analysis/history/sighting_reader.h"
#include "analysis/traffic/foreign_paths.h"
#include "analysis/traffic/spray_statistic.h"
#include "analysis/traffic/traffic_analyzer.h"
#include "analysis/traffic/traffic_reader.h"
#include "fabric/packet/trailer.h"
#include "tests/analysis/traffic_samples.h"

namespace mrclab::analysis::traffic_test {
namespace {

TEST_CASE("what is counted is what the judge's own history of the same capture counts") {
  const Topology topology = test::quad();
  SyntheticRun run(topology);
  test::ScriptedTraffic script;
  script.lost = [](const SyntheticRun::Sent& s) { return s.psn % 17 == 3; };
  script.write(run);
  for (uint32_t psn = 3; psn < 900; psn += 17) {  // h0's: retransmitted, sent twice, trimmed first
    auto again = packet(psn, kB, FabricTime::from_us(1100 + psn), true);
    run.trimmed(again);
    again.start += FabricTime::from_us(20);
    run.delivered(again);
    again.start += FabricTime::from_us(20);
    again.path = kA;
    run.delivered(again);
  }
  SightingReader frames(topology);
  const auto reader = capture_in_memory(run.writer().bytes());
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

TEST_CASE("a packet that may still wait is not lost, however long; one that was overtaken is") {
  const Topology topology = test::quad();
  // The captures go on for forty times the longest way across, without its path.
  const auto fates = [&](auto&& after) {
    SyntheticRun run(topology);
    run.delivered(packet(1, kA, kStart));
    run.leaves(packet(2, kA, kStart * 2));
    after(run);
    return only_flow(traffic_of(run));
  };
  const auto at_the_end = fates([](SyntheticRun&) {});
  CHECK(at_the_end.lost == 0);
  CHECK(at_the_end.open == 1);
  const auto sends_on = fates([](SyntheticRun& run) {
    for (uint32_t i = 3; i < 9; ++i) run.leaves(packet(i, kB, kStart * i));
  });
  CHECK(sends_on.lost ==
        0);  // nothing of what followed has arrived: the receiver's capture may have ended
  CHECK(sends_on.open == 7);
  const auto by_another_path = fates([](SyntheticRun& run) {
    auto soon = packet(3, kB, kStart * 2 + FabricTime::from_us(8));
    run.delivered(
        soon);  // three times the longest way across after the other, which may stand in a queue
  });
  CHECK(by_another_path.lost == 0);
  CHECK(by_another_path.open == 1);
  const auto overtaken = fates([](SyntheticRun& run) { run.delivered(packet(3, kA, kStart * 3)); });
  CHECK(overtaken.lost == 1);
  CHECK(overtaken.open == 0);
  const auto headers_pass =
      fates([](SyntheticRun& run) { run.trimmed(packet(3, kA, kStart * 3)); });
  CHECK(headers_pass.lost == 0);
  const auto much_later =
      fates([](SyntheticRun& run) { run.delivered(packet(3, kB, kStart * 40)); });
  CHECK(much_later.lost == 1);
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
    for (const char* behind : {"x", "bytes behind the end, as a tool leaves them that appends"}) {
      save(packed + behind);
      const Traffic longer = analyze_traffic({{file.path()}, {}, {}});
      // Boost's reader of xz meets the bytes behind the end while it gives out the last byte, which is lost with it.
      const uint64_t lost = kind == 2 ? 1 : 0;
      CHECK(longer.counters.records >= plain.counters.records - lost);
      CHECK(longer.notes.size() == 1);
    }
    std::string damaged = packed.substr(0, 40) + std::string(200, 'x');
    save(damaged);
    CHECK_THROWS_AS(analyze_traffic({{file.path()}, {}, {}}), CaptureError);
  }
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
      analyzer.add_sighting(s);
      if (sent % 100 == 0) continue;  // is lost
      s.t += FabricTime::from_ns(5);
      s.stage = Stage::kHostDown;
      analyzer.add_sighting(s);
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

TEST_CASE("conversations that differ in any part are different, however often they are found") {
  // All of them are looked for at one place among the recent ones, where only lower halves of addresses count.
  Ipv6Address a{1}, b{2};
  ConversationTable table;
  const uint32_t first = table.find_or_add(a, b, Qpn{3});
  const uint32_t other_source = table.find_or_add({7}, b, Qpn{3});
  const uint32_t other_destination = table.find_or_add(a, {7}, Qpn{3});
  CHECK(std::set{first, other_source, other_destination}.size() == 3);
  CHECK(table.find_or_add(a, b, Qpn{3}) == first);
  CHECK(table.find_or_add({7}, b, Qpn{3}) == other_source);
  CHECK(table.find_or_add(a, {7}, Qpn{3}) == other_destination);
  CHECK(table.all().size() == 3);
}

TEST_CASE("sightings of one foreign packet with different carriers are on different paths") {
  ConversationTable conversations;
  TrafficAnalyzer analyzer(conversations, {});
  TrafficSighting s;
  s.conversation = conversations.find_or_add({1}, {2}, Qpn{3});
  conversations[s.conversation].data.sent = 0;
  s.foreign = true;
  for (const auto& [stage, carrier] : {std::pair{Stage::kHostUp, 0u}, {Stage::kSpineUp, 1u}}) {
    s.stage = stage;
    s.path = EntropyValue{ForeignPaths::kFirst + carrier};
    analyzer.add_sighting(s);
  }
  const Traffic traffic = analyzer.finish();
  REQUIRE(traffic.paths.size() == 2);
  CHECK(traffic.paths[1].ev == s.path);
}

}  // namespace
}  // namespace mrclab::analysis::traffic_test
