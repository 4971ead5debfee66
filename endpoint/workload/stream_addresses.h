#pragma once
// Reserves the addresses that a StreamSource lends to frames instead of bytes (stream_contents.h). The kernel gives no memory
// for them. When a StreamSource took them from the heap, its neighbours touched the same pages of 2 MiB, and the kernel
// cleared each of those.

#include <cstdint>
#include <memory>
#include <vector>

namespace mrclab::endpoint {

class StreamAddresses {
 public:
  /// So many addresses in a row, which belong to the caller as long as this exists. What is read there is zero.
  /// Throws std::bad_alloc.
  uint8_t* take(uint64_t size);

 private:
  struct Room {
    uint64_t size = 0;
    void operator()(uint8_t* addresses) const;
  };
  std::vector<std::unique_ptr<uint8_t[], Room>> rooms_;  ///< take() serves from the last one
  uint64_t reserved_ = 0;                                ///< addresses in all rooms
  uint64_t taken_ = 0;  ///< addresses of the last room that take() has given away
};

}  // namespace mrclab::endpoint
