#pragma once
// What the forms of JSON documents are made of.

#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/text/value_form.h"

namespace mrclab::analysis {

inline ValueForm count_form() { return ValueForm::integer(0, INT64_MAX); }
inline ValueForm or_null(ValueForm form) {
  return ValueForm::either({ValueForm::of(ValueForm::Kind::kNothing), std::move(form)});
}

/// Every key is there in every document.
inline ValueForm object(std::vector<ValueForm::Key> keys) {
  for (ValueForm::Key& key : keys) key.need = ValueForm::Key::kRequired;
  return ValueForm::map(std::move(keys));
}

}  // namespace mrclab::analysis
