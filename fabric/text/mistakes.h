#pragma once
// The mistakes of a file, all at once: a reader goes on behind the part that it could not read, and reports what it
// found in one InputError, a line for each mistake.

#include <string>
#include <vector>

#include "fabric/text/input_error.h"

namespace mrclab {

class Mistakes {
 public:
  static constexpr size_t kMost = 50;  ///< lines of a report; our choice, more than a person reads

  /// Reads a part. False if it had a mistake, which is kept, and the caller goes on.
  template <class Read>
  bool go_on(Read&& read) {
    try {
      read();
      return true;
    } catch (const InputError& error) {
      add(error);
      return false;
    }
  }
  /// Also one that is a report of several. What is there already is not kept twice.
  void add(const InputError& error);
  bool any() const { return !lines_.empty(); }
  /// Throws InputError with all of them, those of a file in its order; returns if there are none.
  void report() const;

 private:
  std::vector<std::string> lines_;
};

/// The lines of such a report.
std::vector<std::string> mistakes_in(const InputError& error);

}  // namespace mrclab
