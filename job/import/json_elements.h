#pragma once
// Large JSON documents piece by piece: an object with a long list in it, of which each element is looked at alone. What a
// profiler leaves may be a gigabyte; as one tree it would be several.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace mrclab::job {

inline constexpr size_t kMaxElementValues = 100'000;  ///< of one element, or of another member

/// Calls `element` for each element of the list `key` of the document's object, and `member` for each other member of
/// it that `wanted` names. Throws InputError, which begins with `name`, for what is no JSON, nests deeper than
/// kMaxJsonDepth, or is no object.
struct ElementsWanted {
  std::string_view key;
  std::vector<std::string_view> wanted;
  std::function<void(nlohmann::json&&)> element;
  std::function<void(const std::string& key, nlohmann::json&&)> member;
};
void for_each_element(std::string_view text, const std::string& name,
                      const ElementsWanted& elements);

}  // namespace mrclab::job
