#pragma once
// What stands behind the "?" of a request's target.

#include <string>
#include <string_view>

namespace mrclab::lab {

/// The value of a key in "/live?token=abc&name=anna", decoded as browsers write it: "Anna+M%C3%BCller" (URL Standard,
/// section 5). Empty if the key is not there; what is no code stays.
std::string query_value(std::string_view target, std::string_view key);

}  // namespace mrclab::lab
