#pragma once
// The objects of one kind that a program has made, by the handles that it names them with. Handles start at 1 and are
// given again when they are free, the lowest first, so that they depend on the program's calls alone.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace mrclab::verbs {

template <class Object>
class ObjectTable {
 public:
  explicit ObjectTable(uint32_t most) : most_(most) {}

  /// 0: there are as many as there may be. The handle is free until put() is called with it.
  uint32_t free_handle() const {
    const auto free = std::find(objects_.begin(), objects_.end(), nullptr);
    const auto place = static_cast<uint32_t>(free - objects_.begin());
    return place < most_ ? place + 1 : 0;
  }
  /// `handle` is the one of free_handle().
  Object& put(uint32_t handle, std::unique_ptr<Object> object) {
    if (objects_.size() < handle) objects_.resize(handle);
    objects_[handle - 1] = std::move(object);
    return *objects_[handle - 1];
  }
  /// Null if there is none. Any handle at all.
  Object* find(uint32_t handle) {
    return handle != 0 && handle <= objects_.size() ? objects_[handle - 1].get() : nullptr;
  }
  void remove(uint32_t handle) { objects_[handle - 1].reset(); }
  /// Calls `use(handle, object)` for each, in the order of handles.
  template <class Use>
  void for_each(Use use) {
    for (uint32_t i = 0; i < objects_.size(); ++i) {
      if (objects_[i]) use(i + 1, *objects_[i]);
    }
  }

 private:
  uint32_t most_;
  std::vector<std::unique_ptr<Object>> objects_;
};

}  // namespace mrclab::verbs
