// What seeds of chaos cost, in processor time of one core, without the processes that `mrclab chaos` hands them to.
// Started by bench_chaos.
//
//   chaos_cost FABRIC FIRST COUNT     prints JSON; `digest` is that of `mrclab chaos` over the same seeds

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "lab/chaos/chaos.h"
#include "lab/front/huge_pages.h"
#include "tests/bench/cpu_time.h"

namespace mrclab {
namespace {

nlohmann::ordered_json measure(const std::string& fabric, uint64_t first, uint64_t count) {
  const lab::ChaosBase base = lab::load_chaos_base(fabric);
  lab::ChaosReport report;
  uint64_t packets = 0;
  const double begin = cpu_seconds();
  for (uint64_t seed = first; seed < first + count; ++seed) {
    report.results.push_back(lab::run_chaos_seed(base, seed));
    packets += report.results.back().packets;
  }
  const double took = cpu_seconds() - begin;
  return {{"fabric", fabric},
          {"seeds", count},
          {"packets", packets},
          {"cpu_s", took},
          {"seeds_per_cpu_s", static_cast<double>(count) / took},
          {"digest", lab::digest_of_results(report)}};
}

}  // namespace
}  // namespace mrclab

int main(int argc, char** argv) {
  mrclab::lab::start_with_huge_pages(argv);  // as the command does
  const uint64_t first = argc == 4 ? std::strtoull(argv[2], nullptr, 10) : 0;
  const uint64_t count = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  if (count == 0 || count > 1'000'000) {
    std::fprintf(stderr, "usage: chaos_cost FABRIC FIRST COUNT\n");
    return 2;
  }
  try {
    std::printf("%s\n", mrclab::measure(argv[1], first, count).dump().c_str());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "chaos_cost: %s\n", error.what());
    return 1;
  }
}
