#pragma once
// The file of a scenario as it is before its keys are read: laid over the files that it includes, with the values that a
// command line sets. Variables are still names in it (scenario.h puts values in their place).

#include <filesystem>
#include <vector>

#include "fabric/text/yaml.h"
#include "scenario/spec/set_value.h"

namespace mrclab::lab {

/// Throws InputError: a file that cannot be read, that includes itself, too deep or too many; a key that is not there.
YamlValue read_scenario_document(const std::filesystem::path& path,
                                 const std::vector<SetValue>& sets = {});
/// The same of a file that has been read.
YamlValue composed_scenario(const YamlValue& document, const std::filesystem::path& path,
                            const std::vector<SetValue>& sets = {});

/// "size=1MiB,2MiB" as one value for each part. Throws InputError.
std::vector<SetValue> read_set(const std::string& text);

/// Where relative paths of a value start: the folder of the included file in which it stands, else `base`.
std::filesystem::path folder_of(const YamlValue& value, const YamlValue& document,
                                const std::filesystem::path& base);

}  // namespace mrclab::lab
