#pragma once
// A shared library that the dynamic loader does not load with the program, but when one of its functions is first
// called: libcrypto, libnftables and libpcap come with 13 libraries of their own, and together they are half of what a
// program takes to start, while `up` and its daemons call none of them.
//
// The sources beside this header define each function of these libraries that we call, under the library's own name, so
// that its callers include its header and need no change. Threads may call them at the same time.

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace mrclab::late {

/// The function of this name. `library` is a file name as the loader looks for it (SONAME). Throws std::runtime_error
/// where there is no such library, or no such function in it.
inline void* find_function(const char* library, const char* name) {
  // Opened again it is only counted, and it stays until the process ends.
  void* const opened = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* const found = opened == nullptr ? nullptr : ::dlsym(opened, name);
  if (found != nullptr) return found;
  const char* const reason = ::dlerror();
  throw std::runtime_error("cannot use " + std::string(library) +
                           (reason == nullptr ? "" : std::string(": ") + reason));
}

/// Calls `Function` of `library`, where it is called `name`.
template <auto Function, class... Arguments>
auto call_late(const char* library, const char* name, Arguments... arguments) {
  static const auto function = reinterpret_cast<decltype(Function)>(find_function(library, name));
  return function(arguments...);
}

}  // namespace mrclab::late
