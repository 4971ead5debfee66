#pragma once
// One packet of a capture, whatever the capture's format.

#include <cstdint>
#include <span>
#include <string_view>

#include "fabric/base/units.h"

namespace mrclab::analysis {

inline constexpr uint16_t kLinkTypeEthernet = 1;

enum class CaptureDirection : uint8_t { kUnknown, kInbound, kOutbound };

/// One packet. The spans are valid until the next call of CaptureReader::next().
struct CaptureRecord {
  uint32_t interface = 0;  ///< index into CaptureReader::interfaces()
  CaptureDirection direction = CaptureDirection::kUnknown;
  FabricTime t;
  std::span<const uint8_t> bytes;
  uint32_t original_length = 0;
  std::string_view comment;  ///< the first opt_comment; empty if none
};

}  // namespace mrclab::analysis
