#pragma once
// Documents that are composed before they are read: laid over one another, with values set from outside, with variables.
// Every part keeps the file, line and column where it stands, for messages.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/yaml.h"

namespace mrclab {

/// `over` laid on `under`: maps are joined key by key, a list follows the list below it, anything else replaces what is
/// below. The document is `over`'s. Throws InputError where it gets too large.
YamlValue laid_over(const YamlValue& under, const YamlValue& over);

YamlValue without_key(const YamlValue& document, std::string_view key);

/// The parts of a path into a document: "workload[0].write.size", "workload.*.write.size". Throws InputError.
std::vector<std::string> path_parts(const std::string& path);
/// The document with `value` at such a path, of keys, of places in lists, of `*` for all; a last key that lacks is
/// added. Throws InputError for a path that leads nowhere.
YamlValue with_value(const YamlValue& document, const std::vector<std::string>& path,
                     const YamlValue& value);

/// The document with the values of `vars`, a map, in place of "${name}", in keys and values; what is only "${name}"
/// becomes a value of any kind. "$${" stands for "${". A variable may use those above it. Throws InputError for all
/// names that are undefined, and for variables of the document's own file that nothing uses.
YamlValue with_variables(const YamlValue& document, const YamlValue& vars);
/// Refuses "${name}" where nothing defines variables: values that are nothing else. Throws InputError.
void refuse_variables(const YamlValue& value);

}  // namespace mrclab
