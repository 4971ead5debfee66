#include "endpoint/workload/stream_addresses.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <new>

namespace mrclab::endpoint {
namespace {

#ifdef __linux__
/// Many streams share a room, because the kernel allows a process 65,530 mappings. Each room is as long as all before it, not
/// long from the start, because a session of a class may have few addresses (RLIMIT_AS).
constexpr uint64_t kFirstRoom = uint64_t{16} << 20;
uint64_t room_for(uint64_t size, uint64_t reserved) {
  return std::max({size, kFirstRoom, reserved});
}

uint8_t* reserve(uint64_t size) {
  void* const addresses =
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (addresses == MAP_FAILED) throw std::bad_alloc();
  return static_cast<uint8_t*>(addresses);
}
void release(uint8_t* addresses, uint64_t size) { ::munmap(addresses, size); }
#else
/// A browser has no addresses without memory, so the room is no longer than asked for.
uint64_t room_for(uint64_t size, uint64_t) { return size; }

uint8_t* reserve(uint64_t size) {
  void* const addresses = std::calloc(size, 1);
  if (addresses == nullptr) throw std::bad_alloc();
  return static_cast<uint8_t*>(addresses);
}
void release(uint8_t* addresses, uint64_t) { std::free(addresses); }
#endif

}  // namespace

void StreamAddresses::Room::operator()(uint8_t* addresses) const { release(addresses, size); }

uint8_t* StreamAddresses::take(uint64_t size) {
  if (rooms_.empty() || size > rooms_.back().get_deleter().size - taken_) {
    const uint64_t room = room_for(size, reserved_);
    rooms_.emplace_back(reserve(room), Room{room});
    reserved_ += room;
    taken_ = 0;
  }
  taken_ += size;
  return rooms_.back().get() + taken_ - size;
}

}  // namespace mrclab::endpoint
