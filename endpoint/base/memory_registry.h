#pragma once
// Registered memory of one host: what peers may write to with the right rkey, and nothing else.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "endpoint/base/access_flags.h"
#include "endpoint/base/memory.h"
#include "endpoint/base/memory_region.h"
#include "endpoint/base/region_access.h"

namespace mrclab::endpoint {

enum class MemoryCheck : uint8_t { kOk, kBadRkey, kOutOfBounds };
/// What a peer does to memory.
enum class Reach : uint8_t { kWrite, kRead, kAtomic };
constexpr bool allows(AccessFlags access, Reach reach) {
  switch (reach) {
    case Reach::kWrite: return access.remote_write;
    case Reach::kRead: return access.remote_read;
    case Reach::kAtomic: return access.remote_atomic;
  }
  return false;
}

class MemoryRegistry {
 public:
  /// Registers zeroed memory for a planned region and returns it. The low 12 bits of an rkey are
  /// the region's number in its host (connection_plan.cc); registering a number twice throws.
  std::span<uint8_t> register_region(const RegionPlan& plan);
  /// Registers a planned region that has no bytes.
  Memory add_elided(const RegionPlan& plan);
  /// Registers memory that stays the caller's, `plan.size` bytes, until remove().
  void add_external(const RegionPlan& plan, std::span<uint8_t> memory,
                    AccessFlags access = AccessFlags::all(), uint32_t domain = 0);
  /// The same by an accessor, whose offset 0 is `plan.va`. The region does not wrap around the end of addresses.
  void add_external(const RegionPlan& plan, RegionAccess& memory, AccessFlags access,
                    uint32_t domain);
  /// False if no region has this rkey.
  bool remove(uint32_t rkey);
  /// The lowest region number, from 1, that is not in use.
  uint32_t free_number() const;

  struct Target {
    MemoryCheck check = MemoryCheck::kBadRkey;
    uint8_t* data = nullptr;  ///< of `length` bytes; null unless kOk, and if the region has none
    RegionAccess* access = nullptr;  ///< instead of `data`
    uint64_t offset = 0;             ///< where the target begins in `access`
    /// Puts bytes there, or gets them; `last` as RegionAccess has it. A run without payload has no place for them.
    void write(std::span<const uint8_t> bytes, bool last) const;
    void read(std::span<uint8_t> bytes) const;
    /// Bytes have a place there.
    bool has_bytes() const { return data != nullptr || access != nullptr; }
  };
  /// Where `length` bytes at `va` are, if this rkey allows it to a queue pair of the domain. Any arguments at all.
  Target resolve(uint32_t rkey, uint64_t va, uint64_t length, Reach reach = Reach::kWrite,
                 uint32_t domain = 0) const;

 private:
  struct Free {
    void operator()(uint8_t* p) const { std::free(p); }
  };
  struct Region {
    RegionPlan plan;
    std::unique_ptr<uint8_t[], Free> owned;  ///< empty if the memory belongs to the caller
    uint8_t* bytes = nullptr;                ///< null also if it is elided
    RegionAccess* access = nullptr;          ///< instead of `bytes`
    AccessFlags allowed = AccessFlags::all();
    uint32_t domain = 0;
    bool registered = false;
  };
  Region& place(const RegionPlan& plan);
  std::vector<Region> regions_;  // by number
};

}  // namespace mrclab::endpoint
