#include "endpoint/memory_registry.h"

#include <new>
#include <stdexcept>

namespace mrclab::endpoint {
namespace {
constexpr uint32_t kNumberMask = 0xFFF;
}

std::span<uint8_t> MemoryRegistry::add(const RegionPlan& plan) {
  const size_t number = plan.rkey & kNumberMask;
  if (regions_.size() <= number) regions_.resize(number + 1);
  Region& region = regions_[number];
  if (region.bytes) throw std::invalid_argument("memory region number registered twice");
  // calloc: pages that nobody writes to are never touched.
  region.bytes.reset(static_cast<uint8_t*>(std::calloc(plan.size.value, 1)));
  if (!region.bytes) throw std::bad_alloc();
  region.plan = plan;
  return {region.bytes.get(), plan.size.value};
}

MemoryRegistry::Target MemoryRegistry::resolve(uint32_t rkey, uint64_t va, uint64_t length) const {
  const size_t number = rkey & kNumberMask;
  if (number >= regions_.size()) return {};
  const Region& region = regions_[number];
  if (!region.bytes || region.plan.rkey != rkey) return {};
  const uint64_t size = region.plan.size.value;
  // Written so that no sum can overflow.
  if (va < region.plan.va || length > size || va - region.plan.va > size - length) {
    return {MemoryCheck::kOutOfBounds, nullptr};
  }
  return {MemoryCheck::kOk, region.bytes.get() + (va - region.plan.va)};
}

}  // namespace mrclab::endpoint
