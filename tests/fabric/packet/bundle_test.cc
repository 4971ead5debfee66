#include "fabric/packet/bundle.h"

#include <doctest/doctest.h>

#include <vector>

#include "fabric/base/byte_order.h"
#include "fabric/packet/trailer.h"
#include "tests/support/bundle_of.h"

using namespace mrclab;
using test::bundle_of;

namespace {

std::vector<std::vector<uint8_t>> frames_in(std::span<const uint8_t> bundle, bool& complete) {
  std::vector<std::vector<uint8_t>> found;
  BundledFrames frames(bundle);
  while (const auto frame = frames.next()) found.emplace_back(frame->begin(), frame->end());
  complete = frames.complete();
  return found;
}

/// Ethernet, `ip` bytes that are the given IP header's, and a UDP header with that destination port.
std::vector<uint8_t> udp_frame(Encapsulation encapsulation, uint16_t port) {
  const FrameLayout layout = layout_of(encapsulation);
  std::vector<uint8_t> frame(layout.bth + 12, 0);
  const bool ipv4 = encapsulation == Encapsulation::kIpv4;
  store_be<uint16_t>(&frame[12], ipv4 ? kEthertypeIpv4 : kEthertypeIpv6);
  if (ipv4) {
    frame[14] = 0x45;
    frame[23] = 17;
  } else {
    frame[14] = frame[layout.ip] = 0x60;
    frame[20] = 41;
    frame[layout.ip + 6] = 17;
  }
  store_be<uint16_t>(&frame[layout.udp + 2], port);
  return frame;
}

}  // namespace

TEST_CASE(
    "a bundle gives back its frames in their order, and no node takes it for a packet of its own") {
  const std::vector<std::vector<uint8_t>> frames{{1, 2, 3}, std::vector<uint8_t>(300, 7), {9}};
  const std::vector<uint8_t> bundle = bundle_of(frames);
  REQUIRE(is_bundle(bundle));
  bool complete = false;
  CHECK(frames_in(bundle, complete) == frames);
  CHECK(complete);
  CHECK_FALSE(trailer_offset(bundle));
  CHECK_FALSE(encapsulation_of(bundle));
  CHECK_FALSE(may_be_bundled(bundle));
}

TEST_CASE("packets of MRC and void frames may be bundled, what a kernel may wait for may not") {
  for (const Encapsulation kind :
       {Encapsulation::kSrv6, Encapsulation::kIpv6, Encapsulation::kIpv4}) {
    CHECK(may_be_bundled(udp_frame(kind, kMrcUdpPort)));
    CHECK(may_be_bundled(udp_frame(kind, kMrcUdpPortAlternate)));
    CHECK_FALSE(may_be_bundled(udp_frame(kind, 53)));
  }
  std::vector<uint8_t> ping = udp_frame(Encapsulation::kSrv6, kMrcUdpPort);
  ping[layout_of(Encapsulation::kSrv6).ip + 6] = 58;  // ICMPv6
  CHECK_FALSE(may_be_bundled(ping));
  std::vector<uint8_t> lost(40, 0);
  store_be<uint16_t>(&lost[12], kVoidEthertype);
  CHECK(may_be_bundled(lost));
  CHECK_FALSE(may_be_bundled({}));
  CHECK_FALSE(may_be_bundled(std::span(lost).first(13)));
}

TEST_CASE("a bundle whose lengths are wrong gives what is right of it, and is not complete") {
  const std::vector<uint8_t> good = bundle_of({{1, 2, 3}, {4, 5}});
  bool complete = true;
  std::vector<uint8_t> bad = good;
  store_be<uint16_t>(&bad[kBundleHeadBytes + 5], 3);  // the second: one more than there is
  REQUIRE(is_bundle(bad));
  CHECK(frames_in(bad, complete) == std::vector<std::vector<uint8_t>>{{1, 2, 3}});
  CHECK_FALSE(complete);
  bad = good;
  store_be<uint16_t>(&bad[kBundleHeadBytes], 0);
  CHECK(frames_in(bad, complete).empty());
  CHECK_FALSE(complete);
  CHECK_FALSE(is_bundle(std::span(good).first(good.size() - 1)));
  CHECK_FALSE(is_bundle(std::span(good).first(kBundleHeadBytes)));
  // Address, ethertype, version, length, next header, hop limit, destination.
  for (const size_t place : std::initializer_list<size_t>{0, 5, 12, 14, 19, 20, 21, 38, 53}) {
    bad = good;
    bad[place] ^= 1;
    CHECK_FALSE(is_bundle(bad));
  }
}
