#pragma once
// Addresses for what streams note instead of writing it (stream_contents.h): of bytes that nobody writes, and that take no
// memory. As pieces of the heap they took some: their neighbours touch pages of 2 MiB, which the kernel clears.

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
  std::vector<std::unique_ptr<uint8_t[], Room>> rooms_;  ///< the last one has addresses left
  uint64_t reserved_ = 0;                                ///< in all rooms
  uint64_t taken_ = 0;                                   ///< of the last one
};

}  // namespace mrclab::endpoint
