#pragma once
// What goes wrong at a switch is reported as a problem and does not end the lab.

#include <exception>
#include <string>
#include <vector>

namespace mrclab::lab {

/// Runs `act`; what it throws becomes one of the problems: "p0.t0-0: ...".
template <class Act>
void attempt(std::vector<std::string>& problems, const std::string& what, Act act) {
  try {
    act();
  } catch (const std::exception& error) {
    problems.push_back(what + ": " + error.what());
  }
}

}  // namespace mrclab::lab
