#pragma once
// Places of a container that hold a default T while nothing is in them. A default T owns nothing, so
// that an item can be put there without a look at what the place held: the place has not been used
// for a while, and a processor waits for what it reads from memory, not for what it writes.

#include <memory>
#include <type_traits>
#include <utility>

namespace mrclab {

/// `place` holds a default T. An item that is made elsewhere first is written in its members and read in larger pieces,
/// for which a processor waits until all of them are written.
template <class T, class... Parts>
void make_in_place(T& place, Parts&&... parts) {
  static_assert(std::is_nothrow_constructible_v<T, Parts...>);
  std::construct_at(&place, std::forward<Parts>(parts)...);
}

/// Leaves a default T.
template <class T>
T take_from_place(T& place) {
  static_assert(std::is_nothrow_default_constructible_v<T>);
  T item = std::move(place);
  std::destroy_at(&place);
  std::construct_at(&place);
  return item;
}

}  // namespace mrclab
