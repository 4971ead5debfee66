#pragma once
// Room in vectors that every node has and that stay as large as they ever were: by themselves they double, and
// then up to half of them is never used.

#include <algorithm>
#include <cstddef>
#include <vector>

namespace mrclab {

/// Not inline: it is called a few times, while its callers check for every packet whether they must call it.
template <class T>
[[gnu::noinline]] void grow_gently(std::vector<T>& items, size_t wanted) {
  items.reserve(wanted + std::max<size_t>(wanted / 8, 4));
}

/// Makes room for `more` items, and if there was none for an eighth of all beyond them, at least for a few.
template <class T>
void make_room(std::vector<T>& items, size_t more) {
  const size_t wanted = items.size() + more;
  if (wanted > items.capacity()) grow_gently(items, wanted);
}

}  // namespace mrclab
