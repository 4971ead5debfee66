// Our speaker beside FRR, BIRD, ExaBGP and itself, over the kernel's TCP.

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <regex>
#include <sstream>

#include "fabric/topology/path.h"
#include "peer_bench.h"
#include "routing/bgp/refresh.h"
#include "tests/support/nightly.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;
using namespace mrclab::lab::test;

namespace {

constexpr uint32_t kOurLongAs = 4'200'000'001,
                   kTheirLongAs = 4'200'000'002;  // too long for two octets
const BitRate kTheirRate{9'375'000'000};          // as FRR can encode it
/// A float32 has 24 bits.
bool nearly(BitRate a, BitRate b) {
  return a.bps <= b.bps + b.bps / 10'000'000 && b.bps <= a.bps + a.bps / 10'000'000;
}

/// A pair of us and one other.
struct Pair : PeerBench {
  Pair() {
    add("them");
    ends = link("us", "them");
    ours = plan("us", kOurLongAs, 0x0A000001);
    ours.neighbours = {neighbour("them", ends.a, ends.b, kTheirLongAs)};
    theirs = plan("them", kTheirLongAs, 0x0A000002);
    theirs.neighbours = {neighbour("us", ends.b, ends.a, kOurLongAs)};
  }
  Ends ends;
  SpeakerPlan ours, theirs;
};

/// A peer's own text about a route of ours.
std::string question(SpeakerProgram program, const routing::Prefix& about) {
  const std::string text = routing::to_string(about);
  return program == SpeakerProgram::kFrr    ? "show bgp ipv6 unicast " + text
         : program == SpeakerProgram::kBird ? "show route for " + text + " all"
                                            : "";
}

/// A capture of our end of the link, for another decoder.
class LinkCapture {
 public:
  explicit LinkCapture(PeerBench& bench) : bench_(bench), file_(bench.folder.path() / "link.pcap") {
    netio::ChildOptions options;
    options.argv = {netio::find_program("tcpdump").value_or("tcpdump"),
                    "-i",
                    "them",
                    "-U",
                    "--immediate-mode",
                    "-Z",
                    "root",
                    "-w",
                    file_};
    options.stdout_file = bench.folder.path() / "tcpdump.out";
    const netio::NetworkNamespace& where = bench.lab.at("us");
    options.before_exec = [&where] { where.enter(); };
    child_ = std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(options));
    wait_for_bytes(kFileHeader);  // written when the socket is open
  }
  /// Packets with BGP that tshark has read, and those of them that it calls malformed. On a starved machine tcpdump is
  /// behind, and what it has not written by its end is lost: so what is written is read until there are `least`.
  std::pair<size_t, size_t> read_by_tshark(size_t least) {
    std::pair<size_t, size_t> counts;
    CHECK(bench_.wait_for([&] {
      counts = decoded();
      return counts.first >= least;
    }));
    child_->stop(std::chrono::milliseconds(3000));
    return counts;
  }

 private:
  static constexpr uintmax_t kFileHeader = 24;

  std::pair<size_t, size_t> decoded() const {
    std::istringstream lines(
        netio::test::output_of("tshark -n -r " + file_ +
                               " -Y bgp -T fields -e frame.number -e _ws.malformed 2>/dev/null"));
    std::pair<size_t, size_t> counts;
    for (std::string line; std::getline(lines, line); ++counts.first) {
      counts.second += line.back() != '\t';
    }
    return counts;
  }

  void wait_for_bytes(uintmax_t size) {
    std::error_code error;
    REQUIRE(bench_.wait_for(
        [&] { return std::filesystem::file_size(file_, error) >= size && !error; }));
  }

  PeerBench& bench_;
  std::string file_;
  std::unique_ptr<netio::ChildProcess> child_;
};

}  // namespace

TEST_SUITE("root: BGP peers") {
  TEST_CASE(
      "routes with bandwidth go both ways with every peer, and another decoder reads all of it") {
    bool kernel = false;
    SpeakerProgram program{};
    SUBCASE("ours") { program = SpeakerProgram::kBgpd; }
    SUBCASE("frr") { program = SpeakerProgram::kFrr; }
    SUBCASE("frr with zebra") { program = SpeakerProgram::kFrr, kernel = true; }
    SUBCASE("bird") { program = SpeakerProgram::kBird, kernel = true; }
    SUBCASE("exabgp") { program = SpeakerProgram::kExabgp; }
    CAPTURE(name_of(program));
    if (const auto missing = missing_speaker(program)) {
      MESSAGE(missing->package << " is not there");
      return;
    }
    Pair pair;
    LinkCapture capture(pair);
    const routing::Prefix own = prefix("2001:db8:1::/48");
    pair.ours.origins = {{own, kTheirRate}};
    for (unsigned i = 0; i < 3; ++i) pair.theirs.origins.push_back({numbered(0xF, i), kTheirRate});
    pair.theirs.kernel_routes = kernel;
    SpeakerProcess& other = pair.start_other("them", pair.theirs, program);
    OurSpeaker& us = pair.start_ours(daemon_setup(pair.ours));
    REQUIRE(pair.wait_for([&] { return us.routes.size() == 3; }));
    for (unsigned i = 0; i < 3; ++i) {
      const routing::Path* path = us.path(numbered(0xF, i));
      REQUIRE(path != nullptr);
      REQUIRE(path->bandwidth.has_value());
      CHECK(nearly(*path->bandwidth, kTheirRate));
      CHECK(path->attributes->as_path.first() == routing::AsNumber{kTheirLongAs});
    }
    // After its table each sends End-of-RIB; FRR only to speakers that can restart gracefully.
    const uint64_t ends = program == SpeakerProgram::kFrr ? 0 : 1;
    CHECK(pair.wait_for([&] { return us.daemon->speaker().counters().ends_of_rib_in == ends; }));
    const std::string about = question(program, own);
    if (!about.empty()) {
      CHECK(pair.wait_for(
          [&] { return mrclab::test::mentions(other.ask(about), std::to_string(kOurLongAs)); }));
      const std::string answer = other.ask(about);
      // 9.375 Gb/s as float32; FRR wraps what is above 34 Gb/s of bytes a second, with AS_TRANS.
      const bool bandwidth = mrclab::test::mentions(answer, "LB:23456:1171874944") ||
                             mrclab::test::mentions(answer, "0x4, 23456, 1317778121");
      CHECK_MESSAGE(bandwidth, answer);
    }
    if (kernel) {
      netio::NamespaceNetlink netlink(pair.lab.at("them"));
      CHECK(pair.wait_for([&] {
        const auto routes = netio::installed_routes(netlink);
        return std::any_of(routes.begin(), routes.end(), [&](const netio::InstalledRoute& route) {
          return route.destination.address == own.address() && netio::is_learnt(route.protocol);
        });
      }));
    }
    pair.lab.at("us").run_in([&] {
      us.daemon->change([&](routing::Speaker& s, FabricTime now) { s.retract(own, now); });
    });
    if (!about.empty()) {
      CHECK(pair.wait_for(
          [&] { return !mrclab::test::mentions(other.ask(about), std::to_string(kOurLongAs)); }));
    }
    CHECK(us.downs.empty());
    CHECK(us.faults.empty());
    CHECK(other.check() == std::nullopt);
    pair.end_others();
    CHECK(pair.wait_for([&] { return us.routes.empty(); }));
    REQUIRE(us.downs.size() == 1);
    if (netio::find_program("tshark")) {
      // OPEN, KEEPALIVE and UPDATE of each may share some.
      const auto [packets, malformed] = capture.read_by_tshark(4);
      CHECK(packets >= 4);
      CHECK(malformed == 0);
    }
  }

  TEST_CASE("a host whose link is lost is told of no more, until it is back") {
    SpeakerProgram program{};
    SUBCASE("ours") { program = SpeakerProgram::kBgpd; }
    SUBCASE("frr") { program = SpeakerProgram::kFrr; }
    SUBCASE("bird") { program = SpeakerProgram::kBird; }
    CAPTURE(name_of(program));
    if (missing_speaker(program)) return;
    Pair pair;
    pair.add("host");
    const PeerBench::Ends behind = pair.link("host", "them");
    const routing::Prefix lost = numbered(0xF, 0), kept = numbered(0xF, 1);
    pair.theirs.kernel_routes = true;
    pair.theirs.origins = {{lost, kTheirRate, "host", behind.a}, {kept, kTheirRate}};
    SpeakerProcess& other = pair.start_other("them", pair.theirs, program);
    OurSpeaker& us = pair.start_ours(daemon_setup(pair.ours));
    netio::NamespaceNetlink host(pair.lab.at("host"));
    for (int turn = 0; turn < 2; ++turn) {
      CAPTURE(turn);
      REQUIRE(pair.wait_for([&] { return us.routes.size() == 2; }));
      REQUIRE(us.path(lost) != nullptr);
      CHECK(us.path(lost)->bandwidth.has_value());
      host.set_down("them");
      REQUIRE(pair.wait_for([&] { return us.routes.size() == 1; }));
      CHECK(us.routes.contains(kept));
      host.set_up("them");
    }
    CHECK(pair.wait_for([&] { return us.routes.size() == 2; }));
    CHECK(us.downs.empty());
    CHECK(other.check() == std::nullopt);
  }

  TEST_CASE("10,000 routes in and out, and again after a lost session") {
    SpeakerProgram program{};
    SUBCASE("frr") { program = SpeakerProgram::kFrr; }
    SUBCASE("bird") { program = SpeakerProgram::kBird; }
    CAPTURE(name_of(program));
    if (missing_speaker(program)) return;
    constexpr unsigned kMany = 10'000;
    Pair pair;
    for (unsigned i = 0; i < kMany; ++i) {
      pair.ours.origins.push_back({numbered(1, i), BitRate::from_gbps(10)});
      pair.theirs.origins.push_back({numbered(0xF, i), kTheirRate});
    }
    std::string config = speaker_config(pair.theirs, program);
    if (program == SpeakerProgram::kFrr) {
      // FRR takes a minute to read a list of 10,000 prefixes.
      config = std::regex_replace(config, std::regex("ipv6 prefix-list [^\n]*\n"), "");
      config += "ipv6 prefix-list N0-9375000000 permit 2001:db8:f::/48 le 64\n";
    }
    SpeakerProcess& other = pair.start_other("them", pair.theirs, program, config);
    OurSpeaker& us = pair.start_ours(daemon_setup(pair.ours));
    const std::string count =
        program == SpeakerProgram::kFrr ? "show bgp ipv6 unicast summary" : "show route count";
    const std::string all = program == SpeakerProgram::kFrr ? "RIB entries 20" : "20000 of 20000";
    // FRR counts nodes of its tree as well: from 20,000 entries on both halves are there.
    const auto has_all = [&] {
      return mrclab::test::mentions(other.ask(count), all) ||
             mrclab::test::mentions(other.ask(count), "RIB entries 3");
    };
    const int flaps = mrclab::test::nightly() ? 3 : 1;
    for (int flap = 0;; ++flap) {
      CAPTURE(flap);
      REQUIRE(pair.wait_for([&] { return us.routes.size() == kMany; }));
      REQUIRE(pair.wait_for(has_all));
      if (flap == flaps) break;
      const size_t downs = us.downs.size();
      pair.lab.at("us").run_in([&] { us.daemon->shut_down(); });
      REQUIRE(pair.wait_for([&] { return us.downs.size() > downs && us.routes.empty(); }));
    }
    CHECK(us.faults.empty());
    CHECK(us.troubles.empty());
  }

  TEST_CASE("route refresh: a peer that asks again is told all again") {
    if (missing_speaker(SpeakerProgram::kFrr)) return;
    Pair pair;
    for (unsigned i = 0; i < 5; ++i) pair.ours.origins.push_back({numbered(1, i), {}});
    pair.theirs.origins = {{numbered(0xF, 0), kTheirRate}};
    SpeakerProcess& other = pair.start_other("them", pair.theirs, SpeakerProgram::kFrr);
    OurSpeaker& us = pair.start_ours(daemon_setup(pair.ours));
    REQUIRE(pair.wait_for([&] { return us.routes.size() == 1; }));
    const uint64_t before = us.daemon->speaker().counters().updates_out;
    other.ask("clear bgp ipv6 unicast * soft in");
    CHECK(pair.wait_for([&] { return us.daemon->speaker().counters().updates_out > before; }));
    CHECK(us.downs.empty());
  }

  TEST_CASE("prefix filters: FRR tells what ours asks for, and ours what FRR asks for") {
    if (missing_speaker(SpeakerProgram::kFrr)) return;
    Pair pair;
    for (unsigned i = 0; i < 3; ++i) {
      pair.ours.origins.push_back({numbered(1, i), {}});
      pair.theirs.origins.push_back({numbered(0xF, i), kTheirRate});
    }
    pair.ours.neighbours.front().filters = pair.theirs.neighbours.front().filters = true;
    const std::string remote = mrclab::to_string(pair.ends.a);
    std::string config = frr_config(pair.theirs);
    const std::string activate = "  neighbor " + remote + " activate\n";
    config.insert(config.find(activate) + activate.size(),
                  "  neighbor " + remote + " prefix-list WANTED in\n");
    config += "ipv6 prefix-list WANTED seq 5 permit " + routing::to_string(numbered(1, 2)) + "\n";
    BgpDaemonSetup setup = daemon_setup(pair.ours);
    setup.speaker.wanted = {numbered(0xF, 1)};
    SpeakerProcess& other = pair.start_other("them", pair.theirs, SpeakerProgram::kFrr, config);
    OurSpeaker& us = pair.start_ours(setup);
    REQUIRE(pair.wait_for([&] { return us.routes.size() == 1; }));
    CHECK(us.routes.begin()->first == numbered(0xF, 1));
    CHECK(pair.wait_for([&] {
      return mrclab::test::mentions(other.ask(question(SpeakerProgram::kFrr, numbered(1, 2))),
                                    std::to_string(kOurLongAs));
    }));
    const routing::Speaker& speaker = us.daemon->speaker();
    CHECK(speaker.was_advertised(numbered(1, 2), 0));
    CHECK_FALSE(speaker.was_advertised(numbered(1, 0), 0));
    // Another wish: one route goes, another comes.
    pair.lab.at("us").run_in([&] {
      us.daemon->change(
          [&](routing::Speaker& s, FabricTime now) { s.want({numbered(0xF, 2)}, now); });
    });
    CHECK(pair.wait_for(
        [&] { return us.routes.size() == 1 && us.routes.begin()->first == numbered(0xF, 2); }));
    CHECK(us.downs.empty());
  }

  TEST_CASE("what a speaker in the middle passes on") {
    SpeakerProgram middle{};
    SUBCASE("ours") { middle = SpeakerProgram::kBgpd; }
    SUBCASE("frr") { middle = SpeakerProgram::kFrr; }
    SUBCASE("bird") { middle = SpeakerProgram::kBird; }
    CAPTURE(name_of(middle));
    if (missing_speaker(middle) || missing_speaker(SpeakerProgram::kExabgp)) return;
    Pair pair;  // "them" is the middle
    pair.add("source");
    const PeerBench::Ends behind = pair.link("source", "them");
    constexpr uint32_t kSourceAs = 65'077;
    pair.theirs.neighbours.push_back(PeerBench::neighbour("source", behind.b, behind.a, kSourceAs));
    SpeakerPlan source = PeerBench::plan("source", kSourceAs, 0x0A000003);
    source.neighbours = {PeerBench::neighbour("them", behind.a, behind.b, kTheirLongAs)};
    const char* rows[] = {
        "extended-community [ 0x0004fe35503a43b7 ]",  // 0: link bandwidth, 100 Gb/s
        "extended-community [ 0x4004fe35503a43b7 ]",  // 1: the same, not transitive
        "extended-community [ 0x0099fe3500000001 ]",  // 2: unknown
        "extended-community [ 0x4099fe3500000001 ]",  // 3: unknown, not transitive
        "extended-community [ 0x8399fe3500000001 ]",  // 4: experimental
        "attribute [ 0xc3 0xe0 0x010203 ]",           // 5: unknown optional transitive
        "attribute [ 0xc4 0x80 0x010203 ]",           // 6: unknown optional, not transitive
        "attribute [ 0x10 0xc0 0x01020304050607 ]",   // 7: extended communities of 7 octets
        "",                                           // 8: nothing
    };
    std::string config = exabgp_config(source);
    std::string routes;
    unsigned row = 0;
    for (const char* attributes : rows) {
      routes += "    route " + routing::to_string(numbered(0xA, row++)) + " next-hop " +
                mrclab::to_string(behind.a) + " " + attributes + ";\n";
    }
    const std::string begin = "  static {\n";
    config.insert(config.find(begin) + begin.size(), routes);
    SpeakerProcess& other = pair.start_other("them", pair.theirs, middle);
    pair.start_other("source", source, SpeakerProgram::kExabgp, config);
    OurSpeaker& us = pair.start_ours(daemon_setup(pair.ours));
    REQUIRE(pair.wait_for([&] { return us.routes.contains(numbered(0xA, 8)); }));
    // What is late is not lost: all but the seventh come.
    CHECK(pair.wait_for([&] { return us.routes.size() == 8; }));
    CHECK_FALSE(us.routes.contains(numbered(0xA, 7)));
    const auto extended = [&](unsigned i) {
      const routing::Path* path = us.path(numbered(0xA, i));
      return path == nullptr ? routing::ExtendedCommunities{} : path->attributes->extended;
    };
    const auto bandwidth = [&](unsigned i) {
      const routing::Path* path = us.path(numbered(0xA, i));
      return path == nullptr ? std::nullopt : path->bandwidth;
    };
    REQUIRE(bandwidth(0).has_value());
    CHECK(nearly(*bandwidth(0), BitRate::from_gbps(100)));
    // FARE's own share is advertised in place of what was received, whichever kind that was.
    CHECK(bandwidth(1).has_value() == (middle == SpeakerProgram::kBgpd));
    CHECK(extended(2) == routing::ExtendedCommunities{{{0, 0x99, 0xFE, 0x35, 0, 0, 0, 1}}});
    CHECK(extended(3).empty());
    CHECK(extended(4) == routing::ExtendedCommunities{{{0x83, 0x99, 0xFE, 0x35, 0, 0, 0, 1}}});
    const routing::Path* passed = us.path(numbered(0xA, 5));
    REQUIRE(passed != nullptr);
    REQUIRE(passed->attributes->unknown.size() == 1);
    CHECK(passed->attributes->unknown.front().value == routing::Octets{1, 2, 3});
    CHECK((passed->attributes->unknown.front().flags & routing::kFlagPartial) != 0);
    REQUIRE(us.path(numbered(0xA, 6)) != nullptr);
    CHECK(us.path(numbered(0xA, 6))->attributes->unknown.empty());
    CHECK(us.downs.empty());
    CHECK(other.check() == std::nullopt);
  }
}
