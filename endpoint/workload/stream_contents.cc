#include "endpoint/workload/stream_contents.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace mrclab::endpoint {
namespace {

constexpr uint64_t kElement = sizeof(uint32_t);

}  // namespace

/// A ramp is made of whole elements, of which the first and the last may stick out.
void RampPart::write(std::span<uint8_t> out) const {
  if (size == 0) return std::fill(out.begin(), out.end(), uint8_t{0});
  const uint64_t before = first % kElement;
  std::vector<uint8_t> elements(before + out.size());
  fill_ramp(elements, first / kElement, ramp);
  std::memcpy(out.data(), elements.data() + before, out.size());
}

std::optional<RampPart> StreamSource::part_at(std::span<const uint8_t> bytes) const {
  const uint8_t* const begin = addresses_;
  const uint8_t* const end = begin + layout_.region_size().value;
  if (std::less<>()(bytes.data(), begin) || !std::less<>()(bytes.data(), end)) return std::nullopt;
  const auto offset = static_cast<uint64_t>(bytes.data() - begin);
  const uint64_t slot = offset / layout_.slot_size().value;
  const uint64_t first = offset % layout_.slot_size().value;
  if (first + bytes.size() > layout_.message().value) return std::nullopt;
  return RampPart{ramps_[slot], first, bytes.size()};
}

StreamInbox::StreamInbox(const StreamLayout& layout, uint32_t pmtu, const StreamSource& source)
    : layout_(layout),
      pmtu_(pmtu),
      packets_((layout.message().value + pmtu - 1) / pmtu),
      source_(source),
      parts_(packets_ * layout.slots()) {}

uint64_t StreamInbox::size_of(uint64_t packet) const {
  return std::min<uint64_t>(pmtu_, layout_.message().value - packet * pmtu_);
}

std::optional<uint64_t> StreamInbox::packet_at(uint64_t offset, uint64_t size) const {
  const uint64_t slot = offset / layout_.slot_size().value;
  const uint64_t first = offset % layout_.slot_size().value;
  const uint64_t packet = first / pmtu_;
  if (first % pmtu_ != 0 || packet >= packets_ || size != size_of(packet)) return std::nullopt;
  return slot * packets_ + packet;
}

void StreamInbox::write(uint64_t offset, std::span<const uint8_t> bytes, bool) {
  if (bytes.empty()) return;
  const std::optional<RampPart> part = source_.part_at(bytes);
  if (part && bytes_.empty()) {
    if (const std::optional<uint64_t> packet = packet_at(offset, bytes.size())) {
      parts_[*packet] = *part;
      return;
    }
  }
  become_bytes();
  const std::span<uint8_t> place = std::span(bytes_).subspan(offset, bytes.size());
  if (part) {
    part->write(place);
  } else {
    std::copy(bytes.begin(), bytes.end(), place.begin());
  }
}

void StreamInbox::read(uint64_t offset, std::span<uint8_t> bytes) {
  if (bytes.empty()) return;
  become_bytes();
  std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(offset), bytes.size(), bytes.begin());
}

std::vector<uint8_t> StreamInbox::slot_bytes(uint64_t slot) const {
  const uint64_t size = layout_.slot_size().value;
  const auto begin = bytes_.begin() + static_cast<std::ptrdiff_t>(bytes_.empty() ? 0 : slot * size);
  if (!bytes_.empty()) return {begin, begin + static_cast<std::ptrdiff_t>(size)};
  std::vector<uint8_t> bytes(size);
  for (uint64_t packet = 0; packet < packets_; ++packet) {
    parts_[slot * packets_ + packet].write(
        std::span(bytes).subspan(packet * pmtu_, size_of(packet)));
  }
  return bytes;
}

void StreamInbox::become_bytes() {
  if (!bytes_.empty()) return;
  std::vector<uint8_t> all;
  all.reserve(layout_.region_size().value);
  for (uint64_t slot = 0; slot < layout_.slots(); ++slot) {
    const std::vector<uint8_t> bytes = slot_bytes(slot);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  bytes_ = std::move(all);
}

uint64_t StreamInbox::count_mismatched_bytes(uint64_t number, Ramp ramp) const {
  const uint64_t slot = number % layout_.slots();
  if (bytes_.empty()) {
    bool same = true;
    for (uint64_t packet = 0; packet < packets_ && same; ++packet) {
      same = parts_[slot * packets_ + packet] == RampPart{ramp, packet * pmtu_, size_of(packet)};
    }
    if (same) return 0;
  }
  const std::vector<uint8_t> bytes = slot_bytes(slot);
  return endpoint::count_mismatched_bytes(ConstMemory(bytes).first(layout_.message().value), 0,
                                          ramp);
}

}  // namespace mrclab::endpoint
