#pragma once
// What a request gets back while it is handled. Only session_*.cc and verbs_session.cc include this.

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "netio/system/file_descriptor.h"

namespace mrclab::verbs {

struct SessionReply {
  std::vector<uint8_t> body;
  std::vector<netio::FileDescriptor> descriptors;

  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    body.resize(sizeof value);
    std::memcpy(body.data(), &value, sizeof value);
  }
};

}  // namespace mrclab::verbs
