#pragma once
// What entries of `expect:` may hold, made from the structs of all expectations.

#include "fabric/text/value_form.h"

namespace mrclab::analysis {

/// The expectations, each a key with the form of its fields.
std::vector<ValueForm::Key> expectation_kinds();
/// Those that stand in a list as a word alone.
std::vector<std::string> plain_expectations();
/// The keys that an entry may have beside its expectation.
std::vector<ValueForm::Key> published_keys();

}  // namespace mrclab::analysis
