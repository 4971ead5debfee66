// mrclab-words: what has to do with words alone, and what is written of all verbs.

#include "lab/front/verb_rows.h"
#include "lab/verbs/cli.h"

namespace {

using namespace mrclab::lab;

/// Of other programs' verbs the names, for mistakes in words; its own are the last rows.
void add_words_verbs(CLI::App& app, CliResult&) {
  for (const VerbRow& row : verb_rows()) {
    if (row.program != "mrclab-words") add_verb(app, row.name);
  }
  add_source_verbs(app);
}

}  // namespace

int main(int argc, char** argv) { return cli_main(argc, argv, add_words_verbs); }
