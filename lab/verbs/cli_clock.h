#pragma once
// clock: the time of a lab that stays.

#include "lab/verbs/cli.h"

namespace mrclab::lab {

void add_clock_verb(CLI::App& app, CliResult& result);

}  // namespace mrclab::lab
