#include "fabric/packet/whole_frame.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "fabric/packet/headers.h"

namespace mrclab {
namespace {

constexpr size_t kHeldMax = 256;  // of a frame whose end is cut off
constexpr size_t kPadMax = 3;     // a payload is padded to a multiple of four bytes

/// Writes pad and ICRC of a lent payload.
void write_tail(const Frame& frame, std::span<uint8_t> tail) {
  const LentPayload lent = frame.lent();
  assert(tail.size() >= kIcrcBytes);
  std::fill(tail.begin(), tail.end(), uint8_t{0});
  if (lent.icrc) write_icrc(frame.bytes(), {lent.data, lent.size}, tail);
}

}  // namespace

size_t end_in_storage(const Frame& frame) {
  return frame.has_lent() ? frame.modelled_size().value - frame.lent().size : frame.size();
}

FramePieces pieces_of(Frame& frame, size_t behind) {
  const std::span<uint8_t> all = frame.storage().first(end_in_storage(frame) + behind);
  if (!frame.has_lent()) return {all, {}, {}};
  const size_t tail = end_in_storage(frame) - frame.size();
  write_tail(frame, all.subspan(frame.size(), tail));
  return {
      all.first(frame.size()), {frame.lent().data, frame.lent().size}, all.subspan(frame.size())};
}

size_t whole_size(const Frame& frame) {
  return frame.has_lent() ? frame.modelled_size().value : frame.size();
}

void copy_first(const Frame& frame, std::span<uint8_t> out) {
  assert(out.size() <= whole_size(frame));
  const auto put = [&out](std::span<const uint8_t> piece) {
    const size_t count = std::min(piece.size(), out.size());
    std::copy_n(piece.begin(), count, out.begin());
    out = out.subspan(count);
  };
  put(frame.bytes());
  if (!frame.has_lent()) return;
  const LentPayload lent = frame.lent();
  put({lent.data, lent.size});
  if (out.empty()) return;
  std::array<uint8_t, kPadMax + kIcrcBytes> tail;
  const size_t size = end_in_storage(frame) - frame.size();
  write_tail(frame, std::span(tail).first(size));
  put(std::span(tail).first(size));
}

void hold_first(Frame& frame, size_t size) {
  if (!frame.has_lent()) return;
  const size_t headers = frame.size(), held = std::min(size, whole_size(frame));
  if (held > headers) {
    std::array<uint8_t, kHeldMax> first;
    assert(held <= first.size());
    copy_first(frame, std::span(first).first(held));
    frame.drop_payload();
    frame.resize(held);
    std::copy(first.begin() + headers, first.begin() + held, frame.storage().begin() + headers);
  }
  frame.drop_payload();
}

void hold_payload(Frame& frame) {
  if (!frame.has_lent()) return;
  const size_t headers = frame.size(), whole = whole_size(frame);
  const std::span<uint8_t> behind = frame.storage().subspan(headers, whole - headers);
  std::copy_n(frame.lent().data, frame.lent().size, behind.begin());
  write_tail(frame, behind.subspan(frame.lent().size));
  frame.drop_payload();
  frame.resize(whole);
}

}  // namespace mrclab
