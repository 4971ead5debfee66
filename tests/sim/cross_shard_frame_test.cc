// Frames between ranks, as bytes: they come back as they were, and nothing else is taken for one.

#include "sim/cross_shard_frame.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "fabric/topology/fabric_file.h"
#include "scenario/spec/shipped_files.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

struct Post {
  Topology topology = read_fabric_file(find_fabric("pair"));
  FramePool sender, receiver{1u << 10, kHeaderRoom};

  CrossShardFrame crossing(size_t size) {
    CrossShardFrame crossing{NodeId{1}, PortId{0}, {}};
    crossing.arrival.start = FabricTime::from_ps(123'456'789'012'345);
    crossing.arrival.arrival = FabricTime::from_ps(123'456'789'999'999);
    crossing.arrival.sequence = 0xFEDC'BA98'7654'3210;
    crossing.arrival.lost = DropCause::kWireLoss;
    if (size == 0) return crossing;
    crossing.arrival.frame = sender.make(size);
    std::fill_n(crossing.arrival.frame.writable_bytes().data(), size, uint8_t{0xA5});
    crossing.arrival.frame.set_modelled_size({4166});
    crossing.arrival.frame.add_damage(0);
    crossing.arrival.frame.add_damage(77);
    return crossing;
  }
  CrossShardFrame take(std::span<const uint8_t>& bytes) {
    return take_cross_shard(bytes, topology,
                            [&](NodeId node) { return node.value == 1 ? &receiver : nullptr; });
  }
  std::string refusal(std::vector<uint8_t> bytes) {
    std::span<const uint8_t> left = bytes;
    try {
      while (!left.empty()) take(left);
      return "";
    } catch (const CrossShardError& error) {
      return error.what();
    }
  }
};

TEST_CASE("a cross-shard frame between ranks comes back as it was, with a frame and without") {
  Post post;
  std::vector<uint8_t> bytes;
  append_cross_shard(post.crossing(150), bytes);
  append_cross_shard(post.crossing(0), bytes);
  std::span<const uint8_t> left = bytes;
  const CrossShardFrame full = post.take(left);
  const CrossShardFrame empty = post.take(left);
  CHECK(left.empty());
  for (const CrossShardFrame* crossing : {&full, &empty}) {
    CHECK(crossing->node == NodeId{1});
    CHECK(crossing->port == PortId{0});
    CHECK(crossing->arrival.start.ps() == 123'456'789'012'345);
    CHECK(crossing->arrival.arrival.ps() == 123'456'789'999'999);
    CHECK(crossing->arrival.sequence == 0xFEDC'BA98'7654'3210);
    CHECK(crossing->arrival.lost == DropCause::kWireLoss);
  }
  CHECK_FALSE(empty.arrival.frame);
  REQUIRE(full.arrival.frame);
  const Frame sent = std::move(post.crossing(150).arrival.frame);
  CHECK(std::ranges::equal(full.arrival.frame.bytes(), sent.bytes()));
  CHECK(full.arrival.frame.modelled_size() == sent.modelled_size());
  CHECK(full.arrival.frame.damage() == sent.damage());
  CHECK(post.receiver.in_use() == 1);
}

TEST_CASE("bytes that are no cross-shard frame to a node of this rank are refused in words") {
  Post post;
  std::vector<uint8_t> good;
  append_cross_shard(post.crossing(150), good);
  REQUIRE(post.refusal(good).empty());
  const auto altered = [&](size_t at, uint8_t value) {
    std::vector<uint8_t> bytes = good;
    bytes[at] = value;
    return post.refusal(bytes);
  };
  CHECK(altered(0, 1).find("for no node") != std::string::npos);
  CHECK(altered(3, 0).find("of another rank") != std::string::npos);
  CHECK(altered(6, 1).find("for no port") != std::string::npos);
  CHECK(altered(44, kDropCauses).find("an undefined cause") != std::string::npos);
  CHECK(altered(35, 151).find("cut off") != std::string::npos);
  CHECK(altered(38, 0).find("longer than what it models") != std::string::npos);
  std::vector<uint8_t> cut = good;
  for (; !cut.empty(); cut.pop_back()) {
    if (cut.size() < good.size()) CHECK(post.refusal(cut).find("cut off") != std::string::npos);
  }
  std::vector<uint8_t> long_one;
  append_cross_shard(post.crossing(161), long_one);
  CHECK(post.refusal(long_one).find("no buffer") != std::string::npos);
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {  // whatever comes, it is refused or taken; never read beyond
    std::vector<uint8_t> bytes = good;
    for (int flips = 0; flips < 3; ++flips) {
      bytes[random() % bytes.size()] ^= static_cast<uint8_t>(1 + random() % 255);
    }
    post.refusal(bytes);
  }
  CHECK(post.receiver.in_use() == 0);
}

}  // namespace
