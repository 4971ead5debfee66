#pragma once
// A table with an entry for each port of a node. The table makes the entries of 16 neighbouring ports when its owner first
// asks for one of them. Where a part of the hosts of a large fabric has something to do, frames never come to most ports of
// a switch, and to make the entries of those would take more time and memory than the part that is used. The table of a
// node with few ports makes all entries at once, side by side.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace mrclab {

template <class T>
class PortGroups {
 public:
  static constexpr uint32_t kAtOnce = 16;
  static constexpr uint32_t kFew = 64;  ///< ports

  explicit PortGroups(size_t ports)
      : ports_(static_cast<uint32_t>(ports)), groups_((ports + kAtOnce - 1) / kAtOnce) {}

  PortGroups(PortGroups&&) noexcept = default;
  PortGroups& operator=(PortGroups&&) noexcept = default;
  PortGroups(const PortGroups&) = delete;  // the groups point into made_
  PortGroups& operator=(const PortGroups&) = delete;

  uint32_t ports() const { return ports_; }
  /// The array that find() reads, for a caller who has no table at hand; it is valid as long as the table is.
  T* const* groups() const { return groups_.data(); }
  static T* find(T* const* groups, uint32_t port) {
    T* const group = groups[port / kAtOnce];
    return group != nullptr ? &group[port % kAtOnce] : nullptr;
  }
  /// Null if the table has not made the entry yet.
  T* find(uint32_t port) const { return find(groups_.data(), port); }
  /// The entry of a port for which at() has been called before.
  T& made(uint32_t port) const { return groups_[port / kAtOnce][port % kAtOnce]; }
  /// Makes the entry if it is not there: `make(uint32_t port)` returns a T.
  template <class Make>
  T& at(uint32_t port, const Make& make) {
    T* group = groups_[port / kAtOnce];
    if (group == nullptr) [[unlikely]]
      group = make_group(port / kAtOnce, make);
    return group[port % kAtOnce];
  }
  /// Calls look(uint32_t first_port, std::span<T>) for neighbouring entries that the table has made.
  template <class Look>
  void for_each_group(const Look& look) const {
    for (uint32_t first = 0; first < ports_; first += kAtOnce) {
      T* const group = groups_[first / kAtOnce];
      if (group != nullptr) look(first, std::span<T>(group, std::min(kAtOnce, ports_ - first)));
    }
  }
  /// Calls look(uint32_t port, T&) for each entry that the table has made.
  template <class Look>
  void for_each(const Look& look) const {
    for_each_group([&](uint32_t first, std::span<T> group) {
      for (uint32_t i = 0; i < group.size(); ++i) look(first + i, group[i]);
    });
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
  std::vector<T*> groups_;  // by port / kAtOnce; null: the table has not made these entries yet
  std::vector<std::vector<T>> made_;
};

}  // namespace mrclab
