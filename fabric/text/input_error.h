#pragma once
// What is thrown for bad input, by everything that reads what a person wrote.

#include <stdexcept>

namespace mrclab {

/// Bad input from a person. what() is "file:line:column: found ...: expected ...".
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mrclab
