#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace mrclab::test {

/// Does one of the texts have `part` in it?
inline bool mentions(const std::vector<std::string>& texts, const std::string& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

}  // namespace mrclab::test
