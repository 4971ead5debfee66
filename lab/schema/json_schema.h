#pragma once
// Forms of files (fabric/text/value_form.h) as JSON Schema, draft 7, which editors' YAML language servers read.

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "fabric/text/value_form.h"

namespace mrclab::lab {

/// A kind of document that has a schema.
struct DocumentForm {
  std::string_view name;   ///< "fabric"
  std::string_view about;  ///< one line
  const ValueForm& (*form)();
  bool is_json =
      false;  ///< written by us, with the types of JSON; in YAML a number may stand for a text
};
std::span<const DocumentForm> document_forms();

/// The whole schema; its $id is schema_id() of the name.
nlohmann::ordered_json json_schema(const DocumentForm& document);

}  // namespace mrclab::lab
