#pragma once
// The two processes of a random program.

#include <atomic>

#include "tests/verbs/client/program.h"
#include "tests/verbs/random/random_plan.h"

namespace mrclab::test {

/// In memory that both have: what each must know of the other, and where they meet.
struct Meeting {
  struct Side {
    std::atomic<uint32_t> arrived{0};
    std::atomic<uint64_t> seed{0};  ///< whose plan it runs
    ibv_gid gid;
    uint32_t qpn[Plan::kQps];
    uint32_t rkey;
    uint64_t address;
  };
  Side sides[2];
};

/// Runs the plans of seeds `from` to `to` as side 0 (posts) or 1. Throws verbs::client_test::Failure with the seed.
void run_random_programs(const verbs::client_test::Verbs& verbs, Meeting& meeting, int side,
                         bool roce, uint64_t from, uint64_t to);

}  // namespace mrclab::test
