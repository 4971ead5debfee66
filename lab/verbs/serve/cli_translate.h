#pragma once
// export containerlab, netlab, kathara: fabrics for other people's labs.

#include "lab/verbs/cli.h"

namespace mrclab::lab {

/// Below the verb `export`.
void add_lab_exports(CLI::App& verb);

}  // namespace mrclab::lab
