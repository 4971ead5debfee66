// Notices of failures: what stands on the wire, and what is refused.

#include <doctest/doctest.h>

#include "fabric/base/byte_order.h"
#include "routing/notice/failure_notice.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

const TcpAddresses kNoticeEnds{*parse_address("fd01::7:0:2"), *parse_address("fd01::7:0:1")};

FailureNotice sample_notice() {
  return {FailureNotice::Type::kFailed,
          0x01020304,
          {*Prefix::parse("fd00:2::/32"), *Prefix::parse("fd00:1::5")}};
}

/// The packet with an octet changed, and a checksum that is right again.
Octets with_octet(Octets packet, size_t at, uint8_t value) {
  constexpr size_t kChecksum = kIpv6HeaderOctets + 6;
  packet[at] = value;
  store_be<uint16_t>(&packet[kChecksum], 0);
  const uint16_t sum =
      upper_layer_checksum(kNoticeEnds, 17, OctetView(packet).subspan(kIpv6HeaderOctets));
  store_be<uint16_t>(&packet[kChecksum], sum == 0 ? 0xFFFF : sum);
  return packet;
}

}  // namespace

TEST_CASE("a notice is UDP in IPv6 with hop limit 255, CS6, ARN's four octets and prefixes") {
  const Octets packet = make_notice_packet(kNoticeEnds, sample_notice());
  REQUIRE(packet.size() == 40 + 8 + 9 + 2 * 17);
  CHECK((packet[0] << 4 & 0xF0) == (kDscpRouting << 2));
  CHECK(packet[6] == 17);
  CHECK(packet[7] == 255);
  const Octets head{3, 0x10, 255, 0x80, 1, 2, 3, 4, 2, 32, 0xfd, 0x00, 0x00, 0x02};
  CHECK(std::equal(head.begin(), head.end(), packet.begin() + 48));
  CHECK(is_notice_packet(packet));
  const auto read = parse_notice_packet(packet, kNoticeEnds);
  REQUIRE(read);
  CHECK(read->type == FailureNotice::Type::kFailed);
  CHECK(read->sequence == 0x01020304);
  CHECK(read->prefixes == sample_notice().prefixes);
}

TEST_CASE(
    "a notice that was forwarded, cut, altered, from elsewhere or of another kind is refused") {
  const Octets packet = make_notice_packet(kNoticeEnds, sample_notice());
  REQUIRE(
      parse_notice_packet(with_octet(packet, 50, 7), kNoticeEnds));  // the metric is not looked at
  struct Row {
    const char* what;
    size_t at;
    uint8_t value;
  };
  for (const Row& row : {Row{"forwarded", 7, 254}, Row{"type", 48, 1}, Row{"version", 49, 0x20},
                         Row{"parameters", 51, 0x81}, Row{"no prefix", 56, 0},
                         Row{"more prefixes than there are", 56, 3}, Row{"fewer", 56, 1},
                         Row{"more than fit", 56, 33}, Row{"a length of 129", 57, 129}}) {
    CAPTURE(row.what);
    CHECK_FALSE(parse_notice_packet(with_octet(packet, row.at, row.value), kNoticeEnds));
  }
  Octets altered = packet;
  altered.back() ^= 1;
  CHECK_FALSE(parse_notice_packet(altered, kNoticeEnds));  // by the checksum
  CHECK_FALSE(parse_notice_packet(packet, {kNoticeEnds.destination, kNoticeEnds.source}));
  for (size_t length = 0; length < packet.size(); ++length) {
    CHECK_FALSE(parse_notice_packet(OctetView(packet).first(length), kNoticeEnds));
  }
  CHECK_FALSE(is_notice_packet(with_octet(packet, 43, 0)));  // another port
}
