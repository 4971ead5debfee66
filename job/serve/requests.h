#pragma once
// The requests that an entry serves, as a run has them.

#include <cstdint>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "job/serve/serve_spec.h"

namespace mrclab::job {

/// Of a run, by the times that an entry states: our choice, far above what anybody simulates.
inline constexpr FabricTime kMaxServeTime = FabricTime::from_ms(1'000'000);

struct Request {
  FabricTime arrival;   ///< of the run, compressed; counted from the job's start
  uint32_t input = 1;   ///< tokens of the prompt
  uint32_t output = 1;  ///< tokens of the answer, the first among them
};

struct Requests {
  std::vector<Request> list;  ///< by arrival
  std::vector<std::string> notes;
};

/// Drawn ones come at times and with lengths that the seed, the entry's name and their number decide; those of a file as it
/// has them. Throws InputError for a file that is none.
Requests requests_of(const ServeSpec& spec, uint64_t seed);

}  // namespace mrclab::job
