// Two live hosts and any program of mutations on their packets (tests/support/hostile_program.h).

#include "tests/fuzz/must.h"
#include "tests/support/hostile_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto outcome = mrclab::test::run_hostile_program({data, size});
  if (!outcome.violation.empty()) std::fprintf(stderr, "%s\n", outcome.violation.c_str());
  MUST(outcome.violation.empty());
  return 0;
}
