// Bugs that were put in on purpose: chaos finds each of them within a bounded number of seeds, and
// shrink leaves three faults or fewer of what it found. The ordinary test does it for some of them,
// from a seed that finds them; MRCLAB_NIGHTLY=1 for all, searching.

#include <doctest/doctest.h>

#include <cstdlib>

#include "lab/chaos/chaos.h"
#include "lab/chaos/shrink.h"
#include "lab/chaos/task_pool.h"
#include "lab/run/watched_run.h"
#include "tests/chaos/planted_bug.h"
#include "tests/support/nightly.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::nightly;

namespace {

constexpr uint64_t kSeedsAtMost = 200;  // in which each bug must be found
constexpr uint32_t kBudget = 200;       // runs to shrink what was found

struct PlantedBug {
  const char* name;
  uint64_t seed;  ///< the first of octet's that fails by it
  bool ordinary;  ///< also in the ordinary test
};
constexpr PlantedBug kBugs[] = {
    {"skips_a_hole", 3, false},         {"never_resurrects", 1, true},
    {"loses_probe_timer", 1, false},    {"avoids_for_ever", 1, false},
    {"takes_trim_for_data", 57, false}, {"completes_out_of_order", 12, false},
    {"denies_for_ever", 138, false},    {"counts_duplicates", 14, true},
    {"resumes_too_late", 32, false},    {"executes_twice", 12, false},
    {"acknowledges_a_gap", 36, false},  {"never_lets_go", 151, false},
    {"storms_for_ever", 89, false},
};

class Planted {
 public:
  explicit Planted(const char* name) { test::planted_bug = name; }
  ~Planted() { test::planted_bug = {}; }
};

/// The first seed that fails, or 0.
uint64_t first_failing(const ChaosBase& base) {
  for (uint64_t seed = 1; seed <= kSeedsAtMost; ++seed) {
    if (!failing_check(chaos_scenario(base, seed).scenario).empty()) return seed;
  }
  return 0;
}

}  // namespace

TEST_CASE("chaos finds every planted bug, and shrink leaves three faults or fewer") {
  const ChaosBase base = load_chaos_base("octet");
  for (const PlantedBug& bug : kBugs) {
    if (!bug.ordinary && !nightly()) continue;
    const Planted planted(bug.name);
    const uint64_t seed = nightly() ? first_failing(base) : bug.seed;
    REQUIRE_MESSAGE(seed != 0, bug.name << " is not found in " << kSeedsAtMost << " seeds");
    const ChaosScenario drawn = chaos_scenario(base, seed);
    const ShrunkScenario shrunk = shrink(drawn.scenario, kBudget);
    MESSAGE(std::string(bug.name) << ": seed " << seed << ", " << drawn.scenario.faults.size()
                                  << " faults, fails " << shrunk.check << "; shrunk:\n"
                                  << shrunk.comment << to_yaml(shrunk.scenario));
    CHECK_MESSAGE(shrunk.scenario.faults.size() <= 3, bug.name);
    CHECK(failing_check(shrunk.scenario) == shrunk.check);
  }
}

TEST_CASE("without a bug the seeds that find the bugs pass") {
  const ChaosBase base = load_chaos_base("octet");
  for (const PlantedBug& bug : kBugs) {
    if (!bug.ordinary) continue;
    CHECK(run_chaos_seed(base, bug.seed).result == analysis::Result::kPass);
  }
}
