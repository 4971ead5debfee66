#include "netio/packet/frame_bundler.h"

#include <algorithm>

#include "fabric/base/byte_order.h"

namespace mrclab::netio {
namespace {

size_t size_of(const FramePieces& frame) {
  return frame.head.size() + frame.payload.size() + frame.tail.size();
}

}  // namespace

FrameBundler::FrameBundler(PacketSocket& socket, size_t longest)
    : socket_(socket), longest_(longest) {}

void FrameBundler::add(uint32_t ifindex, const FramePieces& frame, bool alone) {
  if (finished_) {
    finished_ = false;
    used_ = 0;
    sizes_.clear();
  }
  const size_t size = size_of(frame);
  Open* bundle = find(ifindex);
  alone |= kBundleHeadBytes + 2 * (kBundledLengthBytes + size) > longest_;
  if (bundle != nullptr && (alone || bundle->bytes + kBundledLengthBytes + size > longest_)) {
    close(*bundle);
    bundle = nullptr;
  }
  if (alone) {
    queue(ifindex, frame, 1);
  } else if (bundle == nullptr) {
    open(ifindex, frame);
  } else {
    append(*bundle, frame);
  }
}

void FrameBundler::finish() {
  for (Open& bundle : open_) close(bundle);
  open_.clear();
  finished_ = true;
}

FrameBundler::Open* FrameBundler::find(uint32_t ifindex) {
  const auto found = std::find_if(open_.begin(), open_.end(), [&](const Open& bundle) {
    return bundle.ifindex == ifindex && bundle.frames > 0;
  });
  return found != open_.end() ? &*found : nullptr;
}

void FrameBundler::open(uint32_t ifindex, const FramePieces& frame) {
  auto place = std::find_if(open_.begin(), open_.end(),
                            [&](const Open& bundle) { return bundle.ifindex == ifindex; });
  if (place == open_.end()) place = open_.insert(open_.end(), Open{});
  *place =
      Open{ifindex, 1, kBundleHeadBytes + kBundledLengthBytes + size_of(frame), frame, nullptr};
}

void FrameBundler::append(Open& bundle, const FramePieces& frame) {
  size_t end = bundle.bytes;
  const auto write = [&](size_t at, const FramePieces& pieces) {
    store_be<uint16_t>(bundle.memory + at, static_cast<uint16_t>(size_of(pieces)));
    uint8_t* out = bundle.memory + at + kBundledLengthBytes;
    for (const std::span<const uint8_t> piece : {pieces.head, pieces.payload, pieces.tail}) {
      out = std::copy(piece.begin(), piece.end(), out);
    }
  };
  if (bundle.frames == 1) {
    bundle.memory = take_memory();
    write(kBundleHeadBytes, bundle.first);
  }
  write(end, frame);
  bundle.bytes = end + kBundledLengthBytes + size_of(frame);
  ++bundle.frames;
}

void FrameBundler::close(Open& bundle) {
  if (bundle.frames == 0) return;
  if (bundle.frames == 1) {
    queue(bundle.ifindex, bundle.first, 1);
  } else {
    const std::span<uint8_t> whole(bundle.memory, bundle.bytes);
    MacAddress source{};
    std::copy_n(bundle.first.head.begin() + source.size(), source.size(), source.begin());
    write_bundle_head(source, whole);
    queue(bundle.ifindex, FramePieces{whole, {}, {}}, bundle.frames);
  }
  bundle.frames = 0;
}

void FrameBundler::queue(uint32_t ifindex, const FramePieces& frame, uint32_t frames) {
  socket_.queue(ifindex, frame);
  sizes_.push_back(frames);
}

uint8_t* FrameBundler::take_memory() {
  if (used_ == memory_.size()) {
    memory_.push_back(std::make_unique_for_overwrite<uint8_t[]>(longest_));
  }
  return memory_[used_++].get();
}

}  // namespace mrclab::netio
