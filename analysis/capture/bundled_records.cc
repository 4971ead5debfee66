#include "analysis/capture/bundled_records.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/bundle.h"

namespace mrclab::analysis {
namespace {

// The link types that a listener's capture of a veth has (https://www.tcpdump.org/linktypes.html): Ethernet, and with
// `tcpdump -i any` one of the cooked ones, whose header is so long and has the ethertype there.
constexpr uint16_t kCooked = 113, kCooked2 = 276;
constexpr size_t kCookedHeader = 16, kCookedType = 14, kCooked2Header = 20, kCooked2Type = 0;

/// Do the lengths in `frames`, of which a capture may have cut off all behind it, divide `length` bytes into frames?
bool is_divided(std::span<const uint8_t> frames, size_t length) {
  size_t at = 0;
  while (at + kBundledLengthBytes <= frames.size()) {
    const size_t frame = load_be<uint16_t>(&frames[at]);
    if (frame < kEthernetBytes) return false;
    at += kBundledLengthBytes + frame;
  }
  return frames.size() == length ? at == length : at <= length;
}

}  // namespace

void BundledRecords::take_long_apart(CaptureRecord& record, uint16_t link_type) {
  size_t header = kEthernetBytes;
  if (link_type == kCooked) header = kCookedHeader;
  if (link_type == kCooked2) header = kCooked2Header;
  if (header == kEthernetBytes && link_type != kLinkTypeEthernet) return;
  const std::span<const uint8_t> bytes = record.bytes;
  if (bytes.size() < header || record.original_length < bytes.size()) return;
  const size_t length = record.original_length - header;
  if (!is_bundle_packet(bytes.subspan(header), length)) return;
  const std::span<const uint8_t> frames = bytes.subspan(header + kIpv6Bytes);
  if (!is_divided(frames, length - kIpv6Bytes)) return;
  const bool cooked = header != kEthernetBytes;
  link_header_.assign(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(cooked ? header : 0));
  ethertype_at_ = link_type == kCooked ? kCookedType : kCooked2Type;
  bundle_ = record;
  rest_ = frames;
  if (take_next(record)) record.comment = bundle_.comment;
}

bool BundledRecords::take_next(CaptureRecord& record) {
  if (rest_.size() <= kBundledLengthBytes) {
    rest_ = {};
    return false;
  }
  const size_t length = load_be<uint16_t>(rest_.data());
  const size_t kept = std::min(length, rest_.size() - kBundledLengthBytes);
  std::span<const uint8_t> frame = rest_.subspan(kBundledLengthBytes, kept);
  rest_ = rest_.subspan(kBundledLengthBytes + kept);
  record = bundle_;
  record.comment = {};
  record.bytes = frame;
  record.original_length = static_cast<uint32_t>(length);
  if (link_header_.empty()) return true;
  frame_ = link_header_;
  if (kept >= kEthernetBytes) {
    std::copy_n(&frame[kEthernetBytes - 2], 2, &frame_[ethertype_at_]);
    frame_.insert(frame_.end(), frame.begin() + kEthernetBytes, frame.end());
  }
  record.bytes = frame_;
  record.original_length += static_cast<uint32_t>(link_header_.size() - kEthernetBytes);
  return true;
}

}  // namespace mrclab::analysis
