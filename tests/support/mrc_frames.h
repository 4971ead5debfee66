#pragma once
// MRC frames written header by header from a specification, and IPv6 headers read alone: endpoints write frames from
// templates (endpoint/nic/packet_maker.h), which tests hold against these.

#include <algorithm>
#include <cassert>
#include <optional>
#include <span>

#include "fabric/packet/header_fields.h"
#include "fabric/packet/header_sizes.h"
#include "fabric/packet/headers.h"

namespace mrclab {

/// Bytes of its headers, which is where the payload begins.
inline size_t mrc_header_size(const MrcFrameSpec& spec) {
  return layout_of(spec.encapsulation).after_bth + extension_size(spec.bth.opcode, spec.extension);
}

inline uint8_t pad_of(size_t payload_length) { return static_cast<uint8_t>(-payload_length & 3); }

/// Bytes of the frame (no trailer) for this spec.
inline size_t mrc_frame_size(const MrcFrameSpec& spec) {
  return mrc_header_size(spec) + spec.payload_length + pad_of(spec.payload_length) + kIcrcBytes;
}

/// A packet whose format has payload: its sender's, or its responder's in the answer to a READ.
inline bool has_payload(Opcode opcode) {
  return carries_data(opcode) || is_rc_read_response(opcode);
}

/// Writes all headers into `out` and returns where the payload goes: `out` has mrc_frame_size bytes,
/// or mrc_header_size of them if no payload is to follow (then that is empty). The caller copies the
/// payload there, then calls finish_mrc_frame to zero the pad and write ICRC.
inline std::span<uint8_t> write_mrc_headers(const MrcFrameSpec& spec, std::span<uint8_t> out) {
  assert(spec.payload_length == 0 || has_payload(spec.bth.opcode));
  assert(out.size() >= mrc_header_size(spec));
  const FrameLayout at = layout_of(spec.encapsulation);
  write_datagram(spec, mrc_frame_size(spec), out.first(at.bth));
  Bth bth = spec.bth;
  const auto* write = std::get_if<WriteHeaders>(&spec.extension);
  bth.pad = pad_of(spec.payload_length);
  bth.has_tseth = write != nullptr && write->tseth.has_value();
  write_header<kBthTable>(bth, out.data() + at.bth);
  const size_t extension = write_extension(spec.bth.opcode, spec.extension, &out[at.after_bth]);
  const std::span<uint8_t> rest = out.subspan(at.after_bth + extension);
  return rest.first(std::min(rest.size(), spec.payload_length));
}

inline std::optional<Ipv6Header> parse_ipv6(std::span<const uint8_t> bytes) {
  if (bytes.size() < kIpv6Bytes || bytes[0] >> 4 != 6) return std::nullopt;
  Ipv6Header header;
  read_header<kIpv6Table>(bytes.data(), header);
  return header;
}

}  // namespace mrclab
