#include "routing/base/unroutable.h"

#include <array>

namespace mrclab::routing {

namespace {

struct Block {
  Prefix prefix;
  std::string_view what;
};

/// IANA's registry of special-purpose addresses (RFC 6890): those that are not forwardable. IPv4 addresses stand in the
/// two blocks that hold them, whole: ::127.0.0.1 and ::ffff:127.0.0.1 are no addresses of packets either.
const std::array<Block, 6>& special_blocks() {
  const auto of = [](Ipv6Address address, uint8_t length, std::string_view what) {
    return Block{{address, length}, what};
  };
  static const std::array<Block, 6> kBlocks{
      of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, "loopback"),  // RFC 4291, 2.5.3
      of({}, 128, "unspecified"),                                             // RFC 4291, 2.5.2
      of({}, 96, "IPv4-compatible"),                                          // RFC 4291, 2.5.5.1
      of({0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}, 96, "IPv4-mapped"),      // RFC 4291, 2.5.5.2
      of({0xFE, 0x80}, 10, "link-local"),                                     // RFC 4291, 2.5.6
      of({0xFF}, 8, "multicast"),                                             // RFC 4291, 2.7
  };
  return kBlocks;
}

}  // namespace

std::string_view why_unroutable(const Prefix& prefix) {
  for (const Block& block : special_blocks()) {
    if (block.prefix.covers(prefix)) return block.what;
  }
  return {};
}

}  // namespace mrclab::routing
