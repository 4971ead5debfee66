#pragma once
// import: a log of link events as a scenario; other labs' topologies as fabrics (cli_translate.h).

#include <string>

#include "lab/verbs/cli.h"

namespace mrclab::lab {

/// A scenario's or a fabric's name out of any text: at most 32 of a-z, 0-9 and dash.
std::string plain_name(const std::string& text);
/// Refuses to overwrite `out`, which the user may have edited since an earlier import. Empty: standard output.
void require_new_file(const std::string& out, bool force);

void add_import_verb(CLI::App& app, CliResult& result);

}  // namespace mrclab::lab
