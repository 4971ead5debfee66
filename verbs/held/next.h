#pragma once
// The function that a program would have got without this library.

#include <dlfcn.h>

namespace mrclab::verbs::held {

/// `slot` keeps what was found. The C library has every function that is asked for here; a name that it should not have
/// ends the process at the call, which is the truth.
template <typename F>
F* next(F*& slot, const char* name) {
  if (slot == nullptr) slot = reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
  return slot;
}

/// Conditions have two versions in the C library of x86-64; objects of the older one are no longer made.
template <typename F>
F* next_of_version(F*& slot, const char* name) {
  if (slot == nullptr) slot = reinterpret_cast<F*>(dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2"));
  return next(slot, name);
}

}  // namespace mrclab::verbs::held

/// `real` is the next definition of `name`.
#define MRCLAB_NEXT(name)                         \
  static decltype(::name)* mrclab_slot = nullptr; \
  decltype(::name)* const real = ::mrclab::verbs::held::next(mrclab_slot, #name)

/// A function that programs call in place of the C library's.
#define MRCLAB_EXPORT extern "C" __attribute__((visibility("default")))
