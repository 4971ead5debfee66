#pragma once
// import: a log of link events as a scenario; other labs' topologies as fabrics.

#include "lab/verbs/cli.h"

namespace mrclab::lab {

void add_import_verb(CLI::App& app, CliResult& result);

}  // namespace mrclab::lab
