#pragma once
// What expectations and their fields mean, in the words of docs/keys.md, of schemas and of `schema --markdown`. The
// comments of the structs (expect_*.h) say how they are measured.

#include <string_view>

namespace mrclab::analysis {

/// A sentence without its full stop. Every expectation has one (tested).
std::string_view meaning_of_check(std::string_view check);
/// Of a field of this expectation; most mean the same in all of them. Every field has one (tested).
std::string_view meaning_of_field(std::string_view check, std::string_view field);

}  // namespace mrclab::analysis
