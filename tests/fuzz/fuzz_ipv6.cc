// Any bytes as an IPv6 header, against a reading bit by bit.

#include <algorithm>

#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "tests/fuzz/must.h"
#include "tests/support/mrc_frames.h"

using namespace mrclab;

namespace {

/// `count` bits from bit `first` on, most significant first (RFC 8200 §3).
uint32_t bits(const uint8_t* data, unsigned first, unsigned count) {
  uint32_t value = 0;
  for (unsigned i = first; i < first + count; ++i) {
    value = value << 1 | (data[i / 8] >> (7 - i % 8) & 1u);
  }
  return value;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto header = parse_ipv6({data, size});
  MUST(header.has_value() == (size >= kIpv6Bytes && bits(data, 0, 4) == 6));
  if (!header) return 0;
  MUST(header->traffic_class == bits(data, 4, 8));
  MUST(header->flow_label == bits(data, 12, 20));
  MUST(header->payload_length == bits(data, 32, 16));
  MUST(header->next_header == bits(data, 48, 8));
  MUST(header->hop_limit == bits(data, 56, 8));
  MUST(header->dscp() * 4 + header->ecn() == header->traffic_class);
  MUST(std::equal(header->source.begin(), header->source.end(), data + 8));
  MUST(std::equal(header->destination.begin(), header->destination.end(), data + 24));
  MUST(!to_string(header->destination).empty());
  return 0;
}
