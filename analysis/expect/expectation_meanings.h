#pragma once
// What expectations and their fields mean, in the words of docs/keys.md, of schemas and of `schema --markdown`. The
// structs (expect_*.h) document how the judge measures them.

#include <string_view>

namespace mrclab::analysis {

/// A sentence without its full stop. Every expectation has one (tested).
std::string_view meaning_of_check(std::string_view check);
/// The meaning of a field of this expectation; most fields mean the same in all. Every field has one (tested).
std::string_view meaning_of_field(std::string_view check, std::string_view field);

}  // namespace mrclab::analysis
