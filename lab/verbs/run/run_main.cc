// mrclab-run: demo, run, replay; and what mpirun starts, which is one run.

#include <exception>

#include "lab/front/huge_pages.h"
#include "lab/run/rank_run.h"
#include "lab/verbs/cli.h"
#include "netio/system/file_size_limit.h"

namespace mrclab::lab {
namespace {

void add_verbs(CLI::App& app, CliResult& result) {
  add_run_verbs(app, result);
  add_replay_verb(app, result);
}

int run_main(int argc, char** argv) {
  take_huge_pages();
  netio::report_file_size_limit();
  try {
    const JoinedRanks ranks = join_same_ranks();
    if (ranks && ranks->rank() > 0) return follow_first_rank(*ranks);
    return cli_main(argc, argv, add_verbs, ranks.get());
  } catch (const std::exception& error) {  // of the ranks: cli_main() answers its own
    return complain(error.what(), 2);
  }
}

}  // namespace
}  // namespace mrclab::lab

int main(int argc, char** argv) { return mrclab::lab::run_main(argc, argv); }
