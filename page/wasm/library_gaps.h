#pragma once
// What the sources of the rooms use of C++20, and the standard library of Debian's emscripten does not have yet.

#ifdef __cplusplus
#include <cstddef>
#include <memory>
#include <thread>
#include <type_traits>
#include <utility>

namespace std {

class jthread : public thread {
 public:
  using thread::thread;
  jthread(jthread&&) = default;
  ~jthread() {
    if (joinable()) join();
  }
};

template <class Array>
unique_ptr<Array> make_unique_for_overwrite(size_t size) {
  return unique_ptr<Array>(new remove_extent_t<Array>[size]);
}

}  // namespace std
#endif
