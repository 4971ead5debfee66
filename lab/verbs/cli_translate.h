#pragma once
// export containerlab, netlab, kathara; import containerlab: other people's labs.

#include "lab/verbs/cli.h"

namespace mrclab::lab {

/// Below the verb `export`.
void add_lab_exports(CLI::App& verb);
/// Below the verb `import`, whose own words are then not asked for.
void add_lab_import(CLI::App& verb, CliResult& result);

}  // namespace mrclab::lab
