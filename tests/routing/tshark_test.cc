// An independent decoder reads all that we write: a capture of speakers that use everything they have.

#include <doctest/doctest.h>

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

#include "tests/support/speaker_net.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::SpeakerNet;

namespace {

namespace fs = std::filesystem;

/// Classic pcap with raw IPv6, in a folder that goes with it.
class IpCapture {
 public:
  IpCapture() {
    std::string pattern = (fs::temp_directory_path() / "mrclab-bgp-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    file_.open(path(), std::ios::binary);
    const uint32_t header[] = {0xA1B2'3C4D, 0x0004'0002, 0, 0, 0x40000, 229};
    file_.write(reinterpret_cast<const char*>(header), sizeof header);
  }
  ~IpCapture() { fs::remove_all(folder_); }
  IpCapture(const IpCapture&) = delete;
  IpCapture& operator=(const IpCapture&) = delete;

  std::string path() const { return folder_ / "bgp.pcap"; }
  void add(const Octets& packet, FabricTime at) {
    const auto size = static_cast<uint32_t>(packet.size());
    const uint32_t header[] = {static_cast<uint32_t>(at.ns() / 1'000'000'000),
                               static_cast<uint32_t>(at.ns() % 1'000'000'000), size, size};
    file_.write(reinterpret_cast<const char*>(header), sizeof header);
    file_.write(reinterpret_cast<const char*>(packet.data()), size);
    ++packets;
  }
  void close() { file_.close(); }

  size_t packets = 0;

 private:
  fs::path folder_;
  std::ofstream file_;
};

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> lines;
  FILE* pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char* line = nullptr;
  size_t room = 0;
  for (ssize_t n; (n = ::getline(&line, &room, pipe)) > 0;) {
    lines.emplace_back(line, static_cast<size_t>(n));
    if (lines.back().ends_with('\n')) lines.back().pop_back();
  }
  std::free(line);
  ::pclose(pipe);
  return lines;
}

bool is_there(const std::string& program) { return !lines_of("command -v " + program).empty(); }

/// All messages in a packet, where none is split over two.
template <class Visit>
void each_message(const Octets& packet, const Visit& visit) {
  const auto tcp = parse_tcp_packet(packet);
  if (!tcp) return;
  OctetView left = tcp->segment.payload;
  while (!left.empty()) {
    const NextMessage next = next_message(left);
    const auto* message = std::get_if<FramedMessage>(&next);
    if (message == nullptr) return;
    visit(*message);
    left = left.subspan(message->length);
  }
}

/// Leaf, host with filters, spine; bandwidths, tags, unreachability, a refused session, BFD.
void make_everything(SpeakerNet& net) {
  const auto all = [](SpeakerParameters& p) {
    p.tag_hosts_fib_suppressed = true;
    p.hold_time = 3;
    for (auto& neighbour : p.neighbours) {
      neighbour.unreachability = neighbour.takes_filters = true;
      neighbour.bfd = BfdParameters{FabricTime::from_ms(100), 3};
    }
  };
  const auto with_aggregate = [all](SpeakerParameters& p) {
    all(p);
    p.aggregates = {*Prefix::parse("2001:db8:100::/64")};
  };
  const auto host = [all](SpeakerParameters& p) {
    all(p);
    p.transit = false;
    p.wanted = {*Prefix::parse("2001:db8:100::1"), *Prefix::parse("2001:db8:200::/48")};
  };
  net.node("h", 4'200'000'000, host);
  net.node("leaf", 65001, with_aggregate);
  net.node("spine", 65002, all);
  const size_t wire = net.link({"h", "leaf", BitRate::from_gbps(400), {}, true});
  net.link({"leaf", "spine"});
  net.start();
  net.run_ms(2'000);
  net.change("h", [&](Speaker& s) { s.originate(*Prefix::parse("2001:db8:100::1"), net.now); });
  net.change("spine",
             [&](Speaker& s) { s.originate(*Prefix::parse("2001:db8:200::/48"), net.now); });
  net.run_ms(1'000);
  net.set_carrier(wire, false);
  net.run_ms(1'000);
  net.set_carrier(wire, true);
  net.run_ms(2'000);
  net.change("h", [&](Speaker& s) { s.want({}, net.now); });
  net.change("spine", [&](Speaker& s) { s.retract(*Prefix::parse("2001:db8:200::/48"), net.now); });
  net.run_ms(1'000);
  net.change("spine", [&](Speaker& s) { s.shut_down(net.now); });
  net.run_ms(100);
}

}  // namespace

TEST_CASE(
    "tshark reads every packet of speakers, finds nothing wrong and as many messages of each "
    "type") {
  if (!is_there("tshark")) {
    MESSAGE("tshark is not there");
    return;
  }
  IpCapture capture;
  std::map<unsigned, size_t> sent;
  {
    SpeakerNet net;
    net.tap = [&](const Octets& packet) {
      capture.add(packet, net.now);
      each_message(packet, [&](const FramedMessage& message) {
        ++sent[static_cast<unsigned>(message.type)];
      });
    };
    make_everything(net);
  }
  capture.close();
  CHECK(sent.size() == 5);
  const std::string tshark =
      "HOME=/nonexistent tshark -n -o tcp.check_checksum:TRUE -o udp.check_checksum:TRUE -r " +
      capture.path() + " ";
  // tshark 4.0 calls the type of prefix filters unknown, and that an error.
  const std::string wrong =
      "(_ws.malformed and not bgp.route_refresh.orf.type == 64) or tcp.checksum.status == 0 or "
      "udp.checksum.status == 0 or bgp.length.invalid or bgp.marker_invalid or "
      "bgp.prefix_length.invalid";
  CHECK(lines_of(tshark + "-Y '" + wrong + "'").empty());
  CHECK(lines_of(tshark + "-Y 'not (" + wrong + ")'").size() == capture.packets);
  size_t packets = 0, bfd = 0;
  std::map<unsigned, size_t> read;
  for (const std::string& line :
       lines_of(tshark + "-T fields -E occurrence=a -E aggregator=, -e bgp.type -e bfd.sta")) {
    ++packets;
    const size_t tab = line.find('\t');
    bfd += line.size() > tab + 1;
    for (size_t at = 0; at < tab;) {
      const size_t comma = std::min(line.find(',', at), tab);
      ++read[static_cast<unsigned>(std::stoul(line.substr(at, comma - at)))];
      at = comma + 1;
    }
  }
  CHECK(packets == capture.packets);
  CHECK(bfd > 20);
  CHECK(read == sent);
  const auto shown = [&](const std::string& filter) {
    return lines_of(tshark + "-Y '" + filter + "'").size();
  };
  CHECK(shown("bgp.cap.orf.type == 64") > 0);
  CHECK(shown("bgp.route_refresh.orf.type == 64 and bgp.route_refresh.orf.flag == 1 and "
              "bgp.route_refresh.orf.length == 38") > 0);
  CHECK(shown("bgp.update.path_attribute.as_path_segment.as4 == 4200000000") > 0);
  CHECK(shown("bgp.mp_reach_nlri_ipv6_prefix == 2001:db8:100::1") > 0);
  CHECK(shown("bgp.notify.major_error == 6 and bgp.notify.minor_error_cease == 2") > 0);
}

TEST_CASE("exabgp decodes our announcements to the same routes") {
  if (!is_there("exabgp")) {
    MESSAGE("exabgp is not there");
    return;
  }
  PathAttributes attributes;
  attributes.as_path = AsPath({{AsSegment::Type::kSequence, {{65001}, {4'200'000'001}}}});
  attributes.next_hop = *parse_address("2001:db8:12::1");
  attributes.extended = {make_bandwidth(BitRate::from_gbps(100), AsNumber{65002}, kLinkBandwidth)};
  std::vector<Octets> messages;
  encode_announcements(messages, encode_attributes(attributes, true), attributes.next_hop,
                       std::vector{*Prefix::parse("2001:db8:f1::/48")});
  std::string hex;
  for (const uint8_t octet : messages.at(0)) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02X", octet);
    hex += digits;
  }
  std::string all;
  for (const std::string& line : lines_of("exabgp " + std::string(MRCLAB_SOURCE_DIR) +
                                          "/tests/routing/exabgp.conf --decode " + hex + " 2>&1"))
    all += line + "\n";
  CAPTURE(all);
  for (const char* words : {"2001:db8:f1::/48", "2001:db8:12::1", "65001", "4200000001"}) {
    CAPTURE(words);
    CHECK(all.find(words) != std::string::npos);
  }
}
