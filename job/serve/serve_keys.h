#pragma once
// The keys of a `serve:` entry, a row for each: how it is read and written.

#include <string>
#include <vector>

#include "fabric/text/key_table.h"
#include "fabric/topology/pattern.h"
#include "job/serve/serve_spec.h"

namespace mrclab::job {

/// For a table of more keys than these.
const std::vector<KeyRow<ServeSpec, NameResolver>>& serve_rows();
/// Checks what depends on several keys at once. Throws InputError with the position.
void check_serve(const YamlValue& body, const ServeSpec& spec);

/// Reads the body of an entry that has no more keys than these. Throws InputError with the position.
ServeSpec read_serve(const YamlValue& body, NameResolver& names);
/// The body as a file has it.
std::string serve_text(const ServeSpec& spec);

}  // namespace mrclab::job
