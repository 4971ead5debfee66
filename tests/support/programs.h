#pragma once
// What a test needs of other people's programs.

#include <cstdlib>
#include <string>

namespace mrclab::test {

/// Can a shell start `program` by its name?
inline bool has_program(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null").c_str()) == 0;
}

}  // namespace mrclab::test
