#include "endpoint/base/memory_registry.h"

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

void MemoryRegistry::add_external(const RegionPlan& plan, std::span<uint8_t> memory) {
  place(plan).bytes = memory.data();
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

MemoryRegistry::Target MemoryRegistry::resolve(uint32_t rkey, uint64_t va, uint64_t length) const {
  const size_t number = rkey & kNumberMask;
  if (number >= regions_.size()) return {};
  const Region& region = regions_[number];
  if (!region.registered || region.plan.rkey != rkey) return {};
  const uint64_t size = region.plan.size.value;
  // Written so that no sum can overflow.
  if (va < region.plan.va || length > size || va - region.plan.va > size - length) {
    return {MemoryCheck::kOutOfBounds, nullptr};
  }
  if (region.bytes == nullptr) return {MemoryCheck::kOk, nullptr};
  return {MemoryCheck::kOk, region.bytes + (va - region.plan.va)};
}

}  // namespace mrclab::endpoint
