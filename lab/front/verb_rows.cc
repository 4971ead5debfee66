#include "lab/front/verb_rows.h"

#include <algorithm>

namespace mrclab::lab {
namespace {

constexpr VerbRow kRows[] = {
#include "lab/front/verb_rows.inc"
};

}  // namespace

std::span<const VerbRow> verb_rows() { return kRows; }

const VerbRow* find_verb_row(std::string_view name) {
  const auto* const row = std::find_if(std::begin(kRows), std::end(kRows),
                                       [name](const VerbRow& each) { return each.name == name; });
  return row == std::end(kRows) ? nullptr : row;
}

std::string_view verb_in(std::span<char* const> words) {
  if (!words.empty() && std::string_view(words.front()) == "help") words = words.subspan(1);
  for (const std::string_view word : words) {
    if (!word.starts_with('-')) return word;
  }
  return {};
}

}  // namespace mrclab::lab
