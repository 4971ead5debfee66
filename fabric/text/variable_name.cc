#include "fabric/text/variable_name.h"

#include <algorithm>

namespace mrclab {
namespace {

constexpr size_t kMaxVariableName = 64;

}  // namespace

bool is_variable_name(std::string_view text) {
  const auto letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto other = [](char c) { return (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= kMaxVariableName && letter(text[0]) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return letter(c) || other(c); });
}

}  // namespace mrclab
