// Bundles in captures: a record for each of their frames.

#include "analysis/capture/bundled_records.h"

#include <doctest/doctest.h>

#include "analysis/capture/open_capture.h"
#include "fabric/base/byte_order.h"
#include "tests/support/bundle_of.h"
#include "tests/support/capture_writer.h"

using namespace mrclab;
using namespace mrclab::analysis;
using test::bundle_of;

namespace {

using BundleBytes = std::vector<uint8_t>;
constexpr uint16_t kLinkCooked = 113, kLinkCooked2 = 276;

BundleBytes frame_filled(size_t size, uint8_t fill, uint16_t ethertype = kEthertypeIpv6) {
  BundleBytes frame(size, fill);
  store_be<uint16_t>(&frame[kEthernetBytes - 2], ethertype);
  return frame;
}

/// What `tcpdump -i any` writes of an Ethernet frame.
BundleBytes cooked(const BundleBytes& frame, uint16_t link_type) {
  BundleBytes record(link_type == kLinkCooked ? 16 : 20, 0x55);
  const size_t at = link_type == kLinkCooked ? 14 : 0;
  std::copy_n(&frame[kEthernetBytes - 2], 2, &record[at]);
  record.insert(record.end(), frame.begin() + kEthernetBytes, frame.end());
  return record;
}

struct Seen {
  BundleBytes bytes;
  uint32_t length = 0;
  std::string comment;
  bool operator==(const Seen&) const = default;
};

std::vector<Seen> read_back(test::CaptureWriter& writer) {
  std::vector<Seen> seen;
  const auto reader = capture_in_memory(writer.bytes());
  CaptureRecord record;
  while (reader->next(record)) {
    CHECK(record.t == FabricTime::from_ns(7));
    CHECK(record.direction == CaptureDirection::kInbound);
    seen.push_back({{record.bytes.begin(), record.bytes.end()},
                    record.original_length,
                    std::string(record.comment)});
  }
  return seen;
}

std::vector<Seen> read_one(uint16_t link_type, const BundleBytes& bytes, size_t original) {
  test::CaptureWriter writer;
  writer.interface("p0", link_type);
  writer.packet(0, test::kInbound, 7, bytes, static_cast<uint32_t>(original), "said");
  return read_back(writer);
}

}  // namespace

TEST_CASE("a captured bundle gives a record for each of its frames, with what the capture says") {
  const BundleBytes one = frame_filled(200, 1), two = frame_filled(60, 2, 0x88B5),
                    alone = frame_filled(90, 3);
  const BundleBytes bundle = bundle_of({one, two, one});
  test::CaptureWriter writer;
  writer.interface("p0");
  for (const BundleBytes* bytes : {&alone, &bundle, &alone}) {
    writer.packet(0, test::kInbound, 7, *bytes, static_cast<uint32_t>(bytes->size()), "said");
  }
  CHECK(read_back(writer) == std::vector<Seen>{{alone, 90, "said"},
                                               {one, 200, "said"},
                                               {two, 60, ""},
                                               {one, 200, ""},
                                               {alone, 90, "said"}});
}

TEST_CASE("what `tcpdump -i any` has of a bundle gives frames with its link header") {
  const BundleBytes one = frame_filled(200, 1), two = frame_filled(60, 2, 0x88B5);
  for (const uint16_t type : {kLinkCooked, kLinkCooked2}) {
    const BundleBytes bytes = cooked(bundle_of({one, two}), type);
    const BundleBytes first = cooked(one, type), second = cooked(two, type);
    CHECK(read_one(type, bytes, bytes.size()) ==
          std::vector<Seen>{{first, static_cast<uint32_t>(first.size()), "said"},
                            {second, static_cast<uint32_t>(second.size()), ""}});
  }
}

TEST_CASE("a bundle that a capture has cut gives what is left of it") {
  const BundleBytes one = frame_filled(200, 1), two = frame_filled(300, 2);
  const BundleBytes bundle = bundle_of({one, two, one});
  const size_t behind_one = kBundleHeadBytes + 2 + one.size();
  const auto cut = [&](size_t size) {
    return read_one(1, BundleBytes(bundle.begin(), bundle.begin() + static_cast<long>(size)),
                    bundle.size());
  };
  const BundleBytes part(two.begin(), two.begin() + 100);
  CHECK(cut(behind_one + 2 + 100) == std::vector<Seen>{{one, 200, "said"}, {part, 300, ""}});
  CHECK(cut(behind_one + 1) == std::vector<Seen>{{one, 200, "said"}});
  CHECK(cut(behind_one) == std::vector<Seen>{{one, 200, "said"}});
}

TEST_CASE("what only looks like a bundle stays one record") {
  const BundleBytes good = bundle_of({frame_filled(100, 1), frame_filled(50, 2)});
  const auto stays = [&](const BundleBytes& bytes, uint16_t link_type = 1) {
    const auto size = static_cast<uint32_t>(bytes.size());
    return read_one(link_type, bytes, size) == std::vector<Seen>{{bytes, size, "said"}};
  };
  CHECK_FALSE(stays(good));
  BundleBytes bad = good;
  store_be<uint16_t>(&bad[kBundleHeadBytes + 102], 51);  // one more than there is
  CHECK(stays(bad));
  store_be<uint16_t>(&bad[kBundleHeadBytes + 102], 49);  // a byte is left
  CHECK(stays(bad));
  store_be<uint16_t>(&bad[kBundleHeadBytes], 0);
  CHECK(stays(bad));
  for (const size_t place : {size_t{14}, size_t{19}, size_t{20}, size_t{21}, size_t{38}}) {
    bad = good;
    bad[place] ^= 1;
    CHECK(stays(bad));
  }
  CHECK(stays(good, 105));  // a link type that no veth has
  const BundleBytes nested = bundle_of({good, good});
  CHECK(read_one(1, nested, nested.size()).size() == 2);
}
