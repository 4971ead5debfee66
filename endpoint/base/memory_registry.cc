#include "endpoint/base/memory_registry.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace mrclab::endpoint {
namespace {
constexpr uint32_t kNumberMask = 0xFFF;
}

std::span<uint8_t> MemoryRegistry::register_region(const RegionPlan& plan) {
  // calloc: pages that are never written to are never touched.
  std::unique_ptr<uint8_t[], Free> owned(static_cast<uint8_t*>(std::calloc(plan.size.value, 1)));
  if (!owned) throw std::bad_alloc();
  const std::span<uint8_t> memory(owned.get(), plan.size.value);
  add_external(plan, memory);
  regions_[plan.rkey & kNumberMask].owned = std::move(owned);
  return memory;
}

void MemoryRegistry::add_external(const RegionPlan& plan, std::span<uint8_t> memory,
                                  AccessFlags access, uint32_t domain) {
  Region& region = place(plan);
  region.bytes = memory.data();
  region.allowed = access;
  region.domain = domain;
}

void MemoryRegistry::add_external(const RegionPlan& plan, RegionAccess& memory, AccessFlags access,
                                  uint32_t domain) {
  Region& region = place(plan);
  region.access = &memory;
  region.allowed = access;
  region.domain = domain;
}

Memory MemoryRegistry::add_elided(const RegionPlan& plan) {
  place(plan);
  return Memory::elided(plan.size.value);
}

MemoryRegistry::Region& MemoryRegistry::place(const RegionPlan& plan) {
  const size_t number = plan.rkey & kNumberMask;
  if (regions_.size() <= number) regions_.resize(number + 1);
  Region& region = regions_[number];
  if (region.registered) throw std::invalid_argument("memory region number registered twice");
  region.plan = plan;
  region.registered = true;
  return region;
}

bool MemoryRegistry::remove(uint32_t rkey) {
  const size_t number = rkey & kNumberMask;
  if (number >= regions_.size() || !regions_[number].registered ||
      regions_[number].plan.rkey != rkey) {
    return false;
  }
  regions_[number] = Region{};
  return true;
}

uint32_t MemoryRegistry::free_number() const {
  uint32_t number = 1;
  while (number < regions_.size() && regions_[number].registered) ++number;
  return number;
}

void MemoryRegistry::Target::write(std::span<const uint8_t> bytes, bool last) const {
  if (bytes.empty()) return;
  if (data != nullptr) {
    std::memcpy(data, bytes.data(), bytes.size());
  } else if (access != nullptr) {
    access->write(offset, bytes, last);
  }
}

void MemoryRegistry::Target::read(std::span<uint8_t> bytes) const {
  if (bytes.empty()) return;
  if (data != nullptr) {
    std::memcpy(bytes.data(), data, bytes.size());
  } else if (access != nullptr) {
    access->read(offset, bytes);
  }
}

MemoryRegistry::Target MemoryRegistry::resolve(uint32_t rkey, uint64_t va, uint64_t length,
                                               Reach reach, uint32_t domain) const {
  const size_t number = rkey & kNumberMask;
  if (number >= regions_.size()) return {};
  const Region& region = regions_[number];
  if (!region.registered || region.plan.rkey != rkey) return {};
  if (region.domain != domain || !allows(region.allowed, reach)) return {};
  const uint64_t size = region.plan.size.value;
  // Written so that no sum can overflow.
  if (va < region.plan.va || length > size || va - region.plan.va > size - length) {
    return {.check = MemoryCheck::kOutOfBounds};
  }
  const uint64_t offset = va - region.plan.va;
  if (region.bytes != nullptr) return {.check = MemoryCheck::kOk, .data = region.bytes + offset};
  return {.check = MemoryCheck::kOk, .access = region.access, .offset = offset};
}

}  // namespace mrclab::endpoint
