// An independent decoder reads all that we write: a capture of speakers that use everything they have.

#include <doctest/doctest.h>

#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "fabric/base/byte_order.h"
#include "fabric/topology/path.h"
#include "tests/routing/speaker_net.h"
#include "tests/support/programs.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::SpeakerNet;

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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

std::string in_hex(const FramedMessage& message) {
  Octets whole;
  const size_t at = begin_message(whole, message.type);
  OctetWriter(whole).bytes(message.body);
  finish_message(whole, at);
  std::string hex;
  for (const uint8_t octet : whole) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02X", octet);
    hex += digits;
  }
  return hex;
}

/// An UPDATE in words that two decoders share.
struct UpdateWords {
  std::set<std::string> announced, withdrawn;
  std::vector<uint32_t> as_path;
  std::string next_hop;
  std::set<uint64_t> extended;
  bool end = false;
};

UpdateWords words_of(const Update& update) {
  UpdateWords told;
  for (const Prefix& prefix : update.announced) told.announced.insert(to_string(prefix));
  for (const Prefix& prefix : update.withdrawn) told.withdrawn.insert(to_string(prefix));
  told.end = update.end_of_rib;
  if (update.announced.empty()) return told;
  const PathAttributes& attributes = *update.attributes;
  for (const AsSegment& segment : attributes.as_path.segments()) {
    for (const AsNumber as : segment.numbers) told.as_path.push_back(as.value);
  }
  told.next_hop = mrclab::to_string(attributes.next_hop);
  for (const ExtendedCommunity& community : attributes.extended) {
    told.extended.insert(load_be<uint64_t>(community.octets.data()));
  }
  return told;
}

/// An UPDATE as exabgp decodes it.
UpdateWords words_in(const json& message) {
  UpdateWords told;
  const json& body = message.at("neighbor").at("message");
  told.end = body.contains("eor");
  if (told.end) return told;
  const json& update = body.at("update");
  if (update.contains("announce")) {
    for (const auto& [next_hop, routes] : update["announce"].at("ipv6 unicast").items()) {
      told.next_hop = next_hop;
      for (const json& route : routes) told.announced.insert(route.at("nlri").get<std::string>());
    }
  }
  if (update.contains("withdraw")) {
    for (const json& route : update["withdraw"].at("ipv6 unicast")) {
      told.withdrawn.insert(route.at("nlri").get<std::string>());
    }
  }
  if (!update.contains("attribute")) return told;
  const json& attributes = update["attribute"];
  if (attributes.contains("as-path"))
    told.as_path = attributes["as-path"].get<std::vector<uint32_t>>();
  if (attributes.contains("extended-community")) {
    for (const json& community : attributes["extended-community"]) {
      told.extended.insert(community.at("value").get<uint64_t>());
    }
  }
  return told;
}

}  // namespace

TEST_CASE(
    "tshark reads every packet of speakers, finds nothing wrong and as many messages of each "
    "type") {
  if (!test::has_program("tshark")) {
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

TEST_CASE("exabgp reads every UPDATE of speakers to the same routes") {
  if (!test::has_program("exabgp")) {
    MESSAGE("exabgp is not there");
    return;
  }
  // By message, so that each is read once; what is in it as we read it.
  std::map<std::string, UpdateWords> sent;
  {
    SpeakerNet net;
    net.tap = [&](const Octets& packet) {
      each_message(packet, [&](const FramedMessage& message) {
        if (message.type != MessageType::kUpdate) return;
        // A wrong first AS would make it a withdrawal; it is that of one of the three.
        for (const uint32_t as : {4'200'000'000u, 65001u, 65002u}) {
          const auto update = decode_update(message.body, {true, AsNumber{as}});
          REQUIRE(std::holds_alternative<Update>(update));
          if (!std::get<Update>(update).faults.empty()) continue;
          sent[in_hex(message)] = words_of(std::get<Update>(update));
        }
      });
    };
    make_everything(net);
  }
  REQUIRE(sent.size() >= 8);
  std::string command = "exabgp " + std::string(MRCLAB_SOURCE_DIR) + "/tests/routing/exabgp.conf";
  for (const auto& [hex, told] : sent) command += " --decode " + hex;
  std::vector<UpdateWords> read;
  for (const std::string& line : lines_of(command + " 2>&1")) {
    const size_t at = line.find("update json ");
    if (at != std::string::npos) read.push_back(words_in(json::parse(line.substr(at + 12))));
  }
  REQUIRE(read.size() == sent.size());
  size_t i = 0, announced = 0, withdrawn = 0, ends = 0, bandwidths = 0;
  for (const auto& message : sent) {
    const UpdateWords& told = message.second;
    CAPTURE(message.first);
    CHECK(read[i].announced == told.announced);
    CHECK(read[i].withdrawn == told.withdrawn);
    CHECK(read[i].as_path == told.as_path);
    CHECK(read[i].next_hop == told.next_hop);
    CHECK(read[i].extended == told.extended);
    CHECK(read[i].end == told.end);
    announced += told.announced.size(), withdrawn += told.withdrawn.size();
    ends += told.end, bandwidths += !told.extended.empty();
    ++i;
  }
  // Each kind was among them.
  CHECK(announced > 2);
  CHECK(withdrawn > 0);
  CHECK(ends > 0);
  CHECK(bandwidths > 0);
}
