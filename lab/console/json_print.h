#pragma once
// JSON as --json prints it. File names and texts of captures need not be UTF-8, but JSON must be.

#include <nlohmann/json.hpp>
#include <string>

namespace mrclab::lab {

/// The text of the JSON, indented by one, without a newline at its end. Bytes
/// that are no UTF-8 become U+FFFD.
template <class Json>
std::string printed(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mrclab::lab
