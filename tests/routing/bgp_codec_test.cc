// Messages byte for byte, as RFCs and other implementations write them.

#include <doctest/doctest.h>

#include "routing/bgp/open.h"
#include "routing/bgp/refresh.h"
#include "routing/bgp/update.h"
#include "tests/support/bytes.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::from_hex;
using mrclab::test::to_hex;

namespace {

const std::string kMarker(32, 'f');

OctetView body_of(const Octets& message) { return OctetView(message).subspan(kBgpHeaderOctets); }

std::string hex_of(const ExtendedCommunity& community) { return to_hex(community.octets); }

ExtendedCommunity community_of(std::string_view hex) {
  ExtendedCommunity made;
  std::ranges::copy(from_hex(hex), made.octets.begin());
  return made;
}

Update update_of(const Octets& message) {
  auto decoded = decode_update(body_of(message), {true, AsNumber{65001}});
  REQUIRE(std::holds_alternative<Update>(decoded));
  return std::get<Update>(std::move(decoded));
}

}  // namespace

TEST_CASE("link bandwidth is bytes per second in a float32, as RFC 10005 has it") {
  struct Row {
    uint64_t mbps;
    const char* hex;
  };
  for (const Row& row :
       {Row{50'000, "4fba43b7"}, Row{75'000, "500bb2c9"}, Row{100'000, "503a43b7"},
        Row{150'000, "508bb2c9"}, Row{200'000, "50ba43b7"}, Row{400'000, "513a43b7"},
        Row{800'000, "51ba43b7"}, Row{9'375, "4e8bb2c9"}}) {
    CAPTURE(row.mbps);
    const auto made = make_bandwidth({row.mbps * 1'000'000}, AsNumber{65002}, kLinkBandwidth);
    CHECK(hex_of(made) == "0004fdea" + std::string(row.hex));
  }
  CHECK(bandwidth_in({community_of("0004fdea500bb2c9")}, kLinkBandwidth) ==
        BitRate{9'374'999'552u * 8});
}

TEST_CASE(
    "both types of link bandwidth are read, the lowest of several, and none that is no rate") {
  const auto rate = [](std::initializer_list<const char*> hex) {
    ExtendedCommunities communities;
    for (const char* one : hex) communities.push_back(community_of(one));
    const auto found = bandwidth_in(communities, kLinkBandwidth);
    return found ? static_cast<int64_t>(found->bps / 1'000'000) : -1;
  };
  CHECK(rate({"4004fdea503a43b7"}) == 99'999);
  CHECK(rate({"0004fdea513a43b7", "4004fdea503a43b7"}) == 99'999);
  CHECK(rate({"0004fdea00000000"}) == 0);
  CHECK(rate({"0004fdea80000000"}) == 0);   // -0
  CHECK(rate({"0004fdeabf800000"}) == -1);  // -1
  CHECK(rate({"0004fdea7fc00000"}) == -1);  // not a number
  CHECK(rate({"0004fdea7f800000"}) == -1);  // infinite
  CHECK(rate({"0004fdeaff800000", "0004fdea503a43b7"}) == 99'999);
  CHECK(rate({"0304fdea503a43b7", "0005fdea503a43b7"}) == -1);
  CHECK(rate({}) == -1);
}

TEST_CASE("the older form of path bandwidth is written and read where it is chosen") {
  const auto made = make_bandwidth(BitRate::from_gbps(75), AsNumber{70000}, kFarePathBandwidth);
  CHECK(hex_of(made) == "008a5ba0000124f8");
  CHECK(bandwidth_in({made}, kFarePathBandwidth) == BitRate::from_gbps(75));
  CHECK_FALSE(bandwidth_in({made}, kLinkBandwidth));
}

TEST_CASE("unreachability is FRR's encoding of the draft, and needs an originator") {
  CHECK(hex_of(make_unreachable({0x0a000002}, false)) == "030900000a000002");
  CHECK(hex_of(make_unreachable({0x0a000002}, true)) == "030980000a000002");
  CHECK(unreachability_of(community_of("030980000a000002"))->drop);
  CHECK_FALSE(unreachability_of(community_of("030900000a000002"))->drop);
  CHECK_FALSE(unreachability_of(community_of("0309000000000000")));
  CHECK_FALSE(says_unreachable({community_of("030800000a000002")}));
}

TEST_CASE("FIB suppression names who asks for it, under a sub-type of choice") {
  const auto made = make_fib_suppress({65001}, {0x0a000001}, 0x8B);
  CHECK(hex_of(made) == "008bfde90a000001");
  CHECK(says_fib_suppress({made}, 0x8B));
  CHECK_FALSE(says_fib_suppress({made}, 0x8C));
}

TEST_CASE("a filter for one host route is RFC 5292's vector") {
  RouteRefresh refresh;
  refresh.when = RouteRefresh::When::kImmediate;
  refresh.entries = {{OrfEntry::Action::kAdd, true, 10, 0, 0, *Prefix::parse("2001:db8:f2::2")}};
  const Octets message = encode_refresh(refresh);
  CHECK(to_hex(body_of(message)) ==
        "0002000101400018000000000a00008020010db800f200000000000000000002");
  CHECK(std::get<RouteRefresh>(decode_refresh(body_of(message))) == refresh);
}

TEST_CASE("FRR's REMOVE-ALL is read as one, and a broken filter as well") {
  for (const char* body : {"00020001"
                           "02400001"
                           "c0",
                           "00020001"
                           "02400001"
                           "80",
                           "00020001"
                           "02400004"
                           "00000000",  // cut short
                           "00020001"
                           "02400008"
                           "000000000a000081"}) {  // 129 bits
    CAPTURE(body);
    const auto decoded = decode_refresh(from_hex(body));
    REQUIRE(std::holds_alternative<RouteRefresh>(decoded));
    const auto& refresh = std::get<RouteRefresh>(decoded);
    REQUIRE(refresh.entries.size() == 1);
    CHECK(refresh.entries[0].action == OrfEntry::Action::kRemoveAll);
    CHECK(refresh.when == RouteRefresh::When::kDefer);
  }
  CHECK(std::get<Notification>(decode_refresh(from_hex("0002000101400018"))).subcode == 1);
  CHECK(std::get<RouteRefresh>(decode_refresh(from_hex("00020001018000020000"))).entries.empty());
}

TEST_CASE("an OPEN has the capabilities that were asked for, and a true AS of four octets") {
  OpenMessage open;
  open.as = AsNumber{4'200'000'001};
  open.hold_time = 3;
  open.router = RouterId{0x0a000001};
  open.capabilities = {true, true, false, kOrfSends, AsNumber{4'200'000'001}};
  const Octets message = encode_open(open);
  CHECK(to_hex(message) == kMarker +
                               "003601"
                               "045ba000030a000001"
                               "19"
                               "0217"
                               "010400020001"
                               "0200"
                               "0307000200010140"
                               "02"
                               "4104fa56ea01");
  CHECK(std::get<OpenMessage>(decode_open(body_of(message), {{1}, {2}, std::nullopt})) == open);
}

TEST_CASE("a wrong OPEN gets the right answer") {
  struct Row {
    const char* about;
    const char* body;
    uint8_t subcode;
  };
  for (const Row& row : {
           Row{"version 3", "03 fde9 0003 0a000001 00", 1},
           Row{"AS 0", "04 0000 0003 0a000001 08 0206 010400020001", 2},
           Row{"our AS", "04 fdea 0003 0a000001 08 0206 010400020001", 2},
           Row{"another AS than the expected", "04 fdeb 0003 0a000001 08 0206 010400020001", 2},
           Row{"two ASs", "04 fde9 0003 0a000001 0e 020c 010400020001 41040000fdeb", 2},
           Row{"no router id", "04 fde9 0003 00000000 08 0206 010400020001", 3},
           Row{"our router id", "04 fde9 0003 0a000002 08 0206 010400020001", 3},
           Row{"an unknown parameter", "04 fde9 0003 0a000001 03 010100", 4},
           Row{"hold time 2", "04 fde9 0002 0a000001 08 0206 010400020001", 6},
           Row{"no IPv6", "04 fde9 0003 0a000001 08 0206 010400010001", 7},
           Row{"no capabilities", "04 fde9 0003 0a000001 00", 7},
           Row{"parameters cut short", "04 fde9 0003 0a000001 09 0206 010400020001", 0},
           Row{"capability cut short", "04 fde9 0003 0a000001 07 0205 0104000200", 0},
       }) {
    CAPTURE(row.about);
    const auto decoded = decode_open(from_hex(row.body), {{65002}, {0x0a000002}, AsNumber{65001}});
    REQUIRE(std::holds_alternative<Notification>(decoded));
    CHECK(std::get<Notification>(decoded).code == ErrorCode::kOpen);
    CHECK(std::get<Notification>(decoded).subcode == row.subcode);
  }
}

TEST_CASE("long parameters of an OPEN and unknown capabilities are read") {
  const auto decoded = decode_open(
      from_hex("04 fde9 0000 0a000001 ff ff 000c 02 0009 010400020001 47 01 00"), {{1}, {2}, {}});
  REQUIRE(std::holds_alternative<OpenMessage>(decoded));
  CHECK(std::get<OpenMessage>(decoded).capabilities.ipv6_unicast);
}

TEST_CASE("frames are refused by marker, length and type") {
  const auto subcode = [](const std::string& hex) -> int {
    const Octets bytes = from_hex(hex);
    const auto next = next_message(bytes);
    if (std::holds_alternative<std::monostate>(next)) return 0;
    if (std::holds_alternative<FramedMessage>(next)) return -1;
    return std::get<Notification>(next).subcode;
  };
  CHECK(subcode(kMarker + "001304") == -1);
  CHECK(subcode("ffff") == 0);
  CHECK(subcode(kMarker + "001702"
                          "0000") == 0);
  CHECK(subcode("ff00") == 1);
  CHECK(subcode(kMarker + "001204") == 2);
  CHECK(subcode(kMarker + "001404"
                          "00") == 2);
  CHECK(subcode(kMarker + "100102") == 2);
  CHECK(subcode(kMarker + "001c01") == 2);
  CHECK(subcode(kMarker + "001300") == 3);
  CHECK(subcode(kMarker + "001306") == 3);
}

TEST_CASE("an announcement has MP_REACH_NLRI first and is read back") {
  PathAttributes attributes;
  attributes.as_path = AsPath({{AsSegment::Type::kSequence, {{65001}, {65100}}}});
  attributes.extended = {make_bandwidth({9'375'000'000}, AsNumber{65002}, kLinkBandwidth)};
  attributes.next_hop = *parse_address("2001:db8:12::1");
  const std::vector<Prefix> prefixes{*Prefix::parse("2001:db8:f1::/48"), *Prefix::parse("::/0")};
  std::vector<Octets> messages;
  encode_announcements(messages, encode_attributes(attributes, true), attributes.next_hop,
                       prefixes);
  REQUIRE(messages.size() == 1);
  CHECK(to_hex(messages[0]) == kMarker +
                                   "005402"
                                   "0000"
                                   "003d"
                                   "900e001d00020110"
                                   "20010db8001200000000000000000001"
                                   "00"
                                   "3020010db800f1"
                                   "00"
                                   "40010100"
                                   "40020a0202"
                                   "0000fde9"
                                   "0000fe4c"
                                   "c010080004fdea4e8bb2c9");
  const Update update = update_of(messages[0]);
  CHECK(update.announced == prefixes);
  CHECK(*update.attributes == attributes);
  CHECK(update.faults.empty());
}

TEST_CASE("many prefixes take as many messages as fit, none longer than 4096 octets") {
  std::vector<Prefix> prefixes;
  for (uint32_t i = 0; i < 1000; ++i) {
    Ipv6Address address{0x20, 0x01};
    store_be(&address[12], i);
    prefixes.push_back(Prefix::host(address));
  }
  PathAttributes attributes;
  attributes.next_hop = *parse_address("2001:db8::1");
  attributes.as_path = AsPath().prepended(AsNumber{65001});
  std::vector<Octets> announcements, withdrawals;
  encode_announcements(announcements, encode_attributes(attributes, true), attributes.next_hop,
                       prefixes);
  encode_withdrawals(withdrawals, prefixes);
  CHECK(announcements.size() == 5);
  CHECK(withdrawals.size() == 5);
  std::vector<Prefix> announced, withdrawn;
  for (const auto* messages : {&announcements, &withdrawals}) {
    for (const Octets& message : *messages) {
      CHECK(message.size() <= kMaxBgpMessage);
      const Update update = update_of(message);
      announced.insert(announced.end(), update.announced.begin(), update.announced.end());
      withdrawn.insert(withdrawn.end(), update.withdrawn.begin(), update.withdrawn.end());
    }
  }
  CHECK(announced == prefixes);
  CHECK(withdrawn == prefixes);
}

TEST_CASE("the end of a table is an MP_UNREACH_NLRI without routes") {
  CHECK(to_hex(encode_end_of_rib()) == kMarker +
                                           "001e02"
                                           "0000"
                                           "0007"
                                           "900f0003000201");
  CHECK(update_of(encode_end_of_rib()).end_of_rib);
}

TEST_CASE("speakers of two octets get AS_TRANS and AS4_PATH, from which the path is restored") {
  PathAttributes attributes;
  attributes.next_hop = *parse_address("2001:db8::1");
  attributes.as_path = AsPath({{AsSegment::Type::kSequence, {{65001}, {4'200'000'001}}}});
  std::vector<Octets> messages;
  const std::vector<Prefix> prefixes{*Prefix::parse("::/0")};
  const Octets octets = encode_attributes(attributes, false);
  CHECK(to_hex(octets) ==
        "40010100"
        "4002060202fde95ba0"
        "c0110a02020000fde9fa56ea01");
  encode_announcements(messages, octets, attributes.next_hop, prefixes);
  const auto decoded = decode_update(body_of(messages[0]), {false, AsNumber{65001}});
  CHECK(std::get<Update>(decoded).attributes->as_path == attributes.as_path);
  // A speaker of two octets has added itself since.
  const AsPath longer = AsPath({{AsSegment::Type::kSequence, {{65009}, {65001}, kAsTrans}}});
  CHECK(longer.restored(attributes.as_path) == attributes.as_path.prepended(AsNumber{65009}));
}
