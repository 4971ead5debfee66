// Any bytes around a packet: nothing is read beyond them, and what stands around a packet comes off.

#include "fabric/packet/packet_unwrapper.h"

#include <doctest/doctest.h>

#include <random>

#include "fabric/base/byte_order.h"

namespace mrclab {
namespace {

using Bytes8 = std::vector<uint8_t>;

Bytes8 joined(std::initializer_list<Bytes8> parts) {
  Bytes8 all;
  for (const Bytes8& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

Bytes8 ethernet(uint16_t type) {
  Bytes8 header(14, 0x02);
  store_be<uint16_t>(&header[12], type);
  return header;
}

Bytes8 udp(uint16_t port, size_t behind) {
  Bytes8 header(8);
  store_be<uint16_t>(&header[2], port);
  store_be<uint16_t>(&header[4], static_cast<uint16_t>(8 + behind));
  return header;
}

Bytes8 ipv6(uint8_t next, size_t behind) {
  Bytes8 header(40);
  header[0] = 0x60;
  store_be<uint16_t>(&header[4], static_cast<uint16_t>(behind));
  header[6] = next;
  return header;
}

/// A packet to RoCEv2's port, whose first byte behind UDP is 0x0A.
Bytes8 roce() {
  Bytes8 bth(32);
  bth[0] = 0x0A;
  return joined({ethernet(0x86DD), ipv6(17, 8 + bth.size()), udp(4791, bth.size()), bth});
}

Bytes8 in_vxlan() {
  const Bytes8 inner = roce();
  Bytes8 vxlan(8);
  vxlan[0] = 0x08;
  return joined(
      {ethernet(0x86DD), ipv6(17, 16 + inner.size()), udp(4789, 8 + inner.size()), vxlan, inner});
}

Bytes8 behind_tags(size_t tags) {
  Bytes8 frame = roce();
  for (size_t i = 0; i < tags; ++i) {
    const Bytes8 tag{0x81, 0x00, 0x60, 0x05};
    frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  }
  return frame;
}

TEST_CASE("what stands around a packet comes off, and the packet is as it was") {
  PacketUnwrapper unwrapper;
  for (const Bytes8& frame : {in_vxlan(), behind_tags(1), behind_tags(3)}) {
    const auto inside = unwrapper.unwrapped(frame);
    CHECK(Bytes8(inside.begin(), inside.end()) == roce());
    CHECK(unwrapper.layers() != 0);
  }
  const Bytes8 plain = roce();
  CHECK(unwrapper.unwrapped(plain).data() == plain.data());
  CHECK(unwrapper.layers() == 0);
}

TEST_CASE("a frame that is cut anywhere, or has any bytes in it, is read no further than it goes") {
  PacketUnwrapper unwrapper;
  for (const Bytes8& frame : {in_vxlan(), behind_tags(2)}) {
    for (size_t size = 0; size <= frame.size(); ++size) {
      const Bytes8 cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
      CHECK(unwrapper.unwrapped(cut).size() <= size + 8);
    }
  }
  std::mt19937 draw(1);  // NOLINT: the same bytes each time
  for (int i = 0; i < 20'000; ++i) {
    Bytes8 frame = in_vxlan();
    for (int flips = 0; flips < 6; ++flips)
      frame[draw() % frame.size()] = static_cast<uint8_t>(draw());
    frame.resize(draw() % (frame.size() + 1));
    frame.shrink_to_fit();
    CHECK(unwrapper.unwrapped(frame).size() <= frame.size() + 8);
  }
}

TEST_CASE("headers without end are too deep") {
  PacketUnwrapper unwrapper;
  CHECK(unwrapper.unwrapped(behind_tags(100)).size() == behind_tags(100).size());
  CHECK(unwrapper.hidden() == Hidden::kTooDeep);
}

}  // namespace
}  // namespace mrclab
