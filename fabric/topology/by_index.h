#pragma once
// Ranges of things that are made when they are asked for.

#include <cstddef>
#include <iterator>
#include <utility>

namespace mrclab {

/// An iterator for <algorithm>: what it points at is a value, made anew each time.
template <class Range, class T>
class ByIndex {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = T;
  class pointer {
   public:
    explicit pointer(T value) : value_(std::move(value)) {}
    const T* operator->() const { return &value_; }

   private:
    T value_;
  };

  ByIndex() = default;
  ByIndex(const Range& range, size_t at) : range_(range), at_(at) {}
  T operator*() const { return range_[at_]; }
  pointer operator->() const { return pointer(range_[at_]); }
  ByIndex& operator++() {
    ++at_;
    return *this;
  }
  ByIndex operator++(int) {
    ByIndex before = *this;
    ++at_;
    return before;
  }
  difference_type operator-(const ByIndex& other) const {
    return static_cast<difference_type>(at_) - static_cast<difference_type>(other.at_);
  }
  bool operator==(const ByIndex& other) const { return at_ == other.at_; }

 private:
  Range range_;
  size_t at_ = 0;
};

/// Gives a range that has size() and operator[] the other members by which code reads a container. The iterators copy the
/// range, so it should be a pointer or two.
template <class Range, class T>
class MadeByIndex {
 public:
  bool empty() const { return self().size() == 0; }
  T front() const { return self()[0]; }
  T back() const { return self()[self().size() - 1]; }
  ByIndex<Range, T> begin() const { return {self(), 0}; }
  ByIndex<Range, T> end() const { return {self(), self().size()}; }

 private:
  const Range& self() const { return static_cast<const Range&>(*this); }
};

}  // namespace mrclab
