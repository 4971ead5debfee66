#pragma once
// The schema version that every JSON document of ours carries as its first key: a program that reads
// one can refuse a version that it does not support. A change that a reader could notice raises the number.

#include <string>
#include <string_view>
#include <utility>

#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab {

/// "mrclab.verdict/1"
inline std::string schema_id(std::string_view what) { return "mrclab." + std::string(what) + "/1"; }

/// The object with "schema" in front, or the list with it in each of its objects.
template <class Json>
Json with_schema(Json value, std::string_view what) {
  if (value.is_array()) {
    for (auto& item : value) {
      if (item.is_object()) item = with_schema(std::move(item), what);
    }
    return value;
  }
  Json result = {{"schema", schema_id(what)}};
  for (auto& [key, member] : value.items()) result[key] = std::move(member);
  return result;
}

/// Has the document another schema than schema_id(what)? Documents of the first version named none.
template <class Json>
bool has_another_schema(const Json& document, std::string_view what) {
  const auto schema = document.find("schema");
  return schema != document.end() && *schema != schema_id(what);
}

/// Refuses such a document; `file` is where it stands. Throws InputError.
template <class Json>
void require_schema(const Json& document, std::string_view what, const std::string& file) {
  if (!document.is_object() || !has_another_schema(document, what)) return;
  const auto text = [&](const char* key) {
    const auto value = document.find(key);
    const bool there = value != document.end() && value->is_string();
    return visible(there ? value->template get<std::string>() : "?");
  };
  throw InputError(file + ": found " + text("schema") + ", written by mrclab " + text("version") +
                   ": expected " + schema_id(what) +
                   "; that version reads it, or run its scenario.yaml again");
}

}  // namespace mrclab
