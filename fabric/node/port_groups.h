#pragma once
// What a node keeps of each of its ports, made of 16 neighbouring ports when the first of them is asked for. Most ports
// of a switch in a large fabric that is busy in part are never used, and making them would take more time and memory than
// that part. A node with few ports makes all at once, side by side.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mrclab {

template <class T>
class PortGroups {
 public:
  static constexpr uint32_t kAtOnce = 16;
  static constexpr uint32_t kFew = 64;  ///< ports

  explicit PortGroups(size_t ports)
      : ports_(static_cast<uint32_t>(ports)), groups_((ports + kAtOnce - 1) / kAtOnce) {}

  uint32_t ports() const { return ports_; }
  /// For who keeps them where he has them at hand; valid as long as this is.
  T* const* groups() const { return groups_.data(); }
  static T* find(T* const* groups, uint32_t port) {
    T* const group = groups[port / kAtOnce];
    return group != nullptr ? &group[port % kAtOnce] : nullptr;
  }
  /// Null: it is not made yet.
  T* find(uint32_t port) const { return find(groups_.data(), port); }
  /// Of a port that is made.
  T& made(uint32_t port) const { return groups_[port / kAtOnce][port % kAtOnce]; }
  /// `make(uint32_t port)` returns a T.
  template <class Make>
  T& at(uint32_t port, const Make& make) {
    T* group = groups_[port / kAtOnce];
    if (group == nullptr) [[unlikely]]
      group = make_group(port / kAtOnce, make);
    return group[port % kAtOnce];
  }
  /// Calls look(uint32_t port, T&) for all that are made.
  template <class Look>
  void for_each(const Look& look) const {
    for (uint32_t first = 0; first < ports_; first += kAtOnce) {
      T* const group = groups_[first / kAtOnce];
      if (group == nullptr) continue;
      const uint32_t end = std::min(first + kAtOnce, ports_);
      for (uint32_t port = first; port < end; ++port) look(port, group[port - first]);
    }
  }

 private:
  template <class Make>
  [[gnu::noinline]] T* make_group(uint32_t group, const Make& make) {
    const bool all = ports_ <= kFew;
    const uint32_t first = all ? 0 : group * kAtOnce;
    const uint32_t end = all ? ports_ : std::min(first + kAtOnce, ports_);
    std::vector<T>& made = made_.emplace_back();
    made.reserve(end - first);
    for (uint32_t port = first; port < end; ++port) made.push_back(make(port));
    for (uint32_t port = first; port < end; port += kAtOnce) {
      groups_[port / kAtOnce] = &made[port - first];
    }
    return groups_[group];
  }

  uint32_t ports_;
  std::vector<T*> groups_;  // null: not made yet
  std::vector<std::vector<T>> made_;
};

}  // namespace mrclab
