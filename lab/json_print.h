#pragma once
// JSON for --json: file names and what captures hold need not be UTF-8, which JSON must be.

#include <nlohmann/json.hpp>
#include <string>

namespace mrclab::lab {

/// Indented by one, without a line's end; what is no UTF-8 as U+FFFD.
template <class Json>
std::string printed(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mrclab::lab
