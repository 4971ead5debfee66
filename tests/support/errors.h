#pragma once
// The errors of code about input that it does not take.

#include <concepts>
#include <string>

#include "fabric/text/yaml.h"

namespace mrclab::test {

/// The words of the InputError that `action` throws, or "no error".
template <std::invocable Action>
std::string error_of(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace mrclab::test
