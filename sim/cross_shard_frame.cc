#include "sim/cross_shard_frame.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/whole_frame.h"

namespace mrclab::lab {
namespace {

// Where the fields of a head begin.
constexpr size_t kNode = 0;           // 4 bytes
constexpr size_t kPort = 4;           // 4
constexpr size_t kStart = 8;          // 8: ps
constexpr size_t kArrival = 16;       // 8: ps
constexpr size_t kSequence = 24;      // 8
constexpr size_t kSize = 32;          // 4: bytes of the frame, which follow the head
constexpr size_t kModelledSize = 36;  // 4
constexpr size_t kDamage = 40;        // 4
constexpr size_t kLost = 44;          // 1: a DropCause
constexpr size_t kHasFrame = 45;      // 1: 0 or 1; then 2 bytes of zero

void require(bool is_so, const char* what) {
  if (!is_so) throw CrossShardError(what);
}

Frame take_frame(std::span<const uint8_t>& bytes, const uint8_t* head, FramePool& frames) {
  const size_t size = load_be<uint32_t>(head + kSize);
  const uint32_t modelled = load_be<uint32_t>(head + kModelledSize);
  require(size <= bytes.size(), "a frame is cut off");
  require(modelled >= size, "a frame is longer than what it models");
  Frame frame = frames.copy(bytes.first(size));
  require(bool{frame}, "a frame is too long, or there is no buffer left for it");
  frame.set_modelled_size({modelled});
  // add_damage() takes the number of a bit and keeps it plus one.
  const uint32_t damage = load_be<uint32_t>(head + kDamage);
  if (damage != 0) frame.add_damage(damage - 1);
  bytes = bytes.subspan(size);
  return frame;
}

}  // namespace

void append_cross_shard(const CrossShardFrame& crossing, std::vector<uint8_t>& out) {
  const Arrival& arrival = crossing.arrival;
  const size_t size = arrival.frame ? whole_size(arrival.frame) : 0;
  const size_t begin = out.size();
  out.resize(begin + kCrossShardHeadBytes + size);
  uint8_t* const head = out.data() + begin;
  store_be(head + kNode, crossing.node.value);
  store_be(head + kPort, crossing.port.value);
  store_be(head + kStart, static_cast<uint64_t>(arrival.start.ps()));
  store_be(head + kArrival, static_cast<uint64_t>(arrival.arrival.ps()));
  store_be(head + kSequence, arrival.sequence);
  head[kLost] = static_cast<uint8_t>(arrival.lost);
  if (!arrival.frame) return;
  store_be(head + kSize, static_cast<uint32_t>(size));
  store_be(head + kModelledSize, static_cast<uint32_t>(arrival.frame.modelled_size().value));
  store_be(head + kDamage, arrival.frame.damage());
  head[kHasFrame] = 1;
  copy_first(arrival.frame, {head + kCrossShardHeadBytes, size});
}

CrossShardFrame take_cross_shard(std::span<const uint8_t>& bytes, const Topology& topology,
                                 const std::function<FramePool*(NodeId)>& frames_of) {
  require(bytes.size() >= kCrossShardHeadBytes, "a cross-shard frame's head is cut off");
  const uint8_t* const head = bytes.data();
  bytes = bytes.subspan(kCrossShardHeadBytes);
  CrossShardFrame crossing{
      NodeId{load_be<uint32_t>(head + kNode)}, PortId{load_be<uint32_t>(head + kPort)}, {}};
  require(crossing.node.value < topology.nodes.size(), "a cross-shard frame is for no node");
  require(crossing.port.value < topology.node(crossing.node).ports.size(),
          "a cross-shard frame is for no port");
  require(head[kLost] < kDropCauses, "a cross-shard frame's frame has an undefined cause of loss");
  FramePool* const frames = frames_of(crossing.node);
  require(frames != nullptr, "a cross-shard frame is for a node of another rank");
  crossing.arrival.start =
      FabricTime::from_ps(static_cast<int64_t>(load_be<uint64_t>(head + kStart)));
  crossing.arrival.arrival =
      FabricTime::from_ps(static_cast<int64_t>(load_be<uint64_t>(head + kArrival)));
  crossing.arrival.sequence = load_be<uint64_t>(head + kSequence);
  crossing.arrival.lost = static_cast<DropCause>(head[kLost]);
  if (head[kHasFrame] != 0) crossing.arrival.frame = take_frame(bytes, head, *frames);
  return crossing;
}

}  // namespace mrclab::lab
