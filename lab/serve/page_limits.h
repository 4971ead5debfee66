#pragma once
// Bounds of what clients may take of the page's server (page_server.h).

#include <chrono>
#include <cstddef>

namespace mrclab::lab {

struct PageLimits {
  static constexpr size_t kMaxClients = 16;
  static constexpr size_t kMaxStrangers = 128;
  static constexpr size_t kMaxRequestBytes = 8192;
  static constexpr size_t kMaxTextBytes = 65536;
  static constexpr size_t kMaxWaiting = 256;
  static constexpr size_t kMaxOutgoingBytes = size_t{64} << 20;
  static constexpr std::chrono::seconds kHandshakeTime{10};
};

}  // namespace mrclab::lab
