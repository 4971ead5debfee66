#pragma once
// JSON as --json prints it. File names and texts of captures need not be UTF-8, but JSON must be.

#include <nlohmann/json.hpp>
#include <string>

#include "fabric/text/schema_id.h"

namespace mrclab::lab {

/// The text of the JSON, indented by one, without a newline at its end. Bytes
/// that are no UTF-8 become U+FFFD.
template <class Json>
std::string printed(const Json& document) {
  return document.dump(1, ' ', false, Json::error_handler_t::replace);
}

/// The same of a document of ours, with the schema of `what` in front: "mrclab.labs/1". A list has it in each
/// object.
template <class Json>
std::string printed(const Json& document, std::string_view what) {
  return printed(with_schema(nlohmann::ordered_json(document), what));
}

}  // namespace mrclab::lab
