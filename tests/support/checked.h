#pragma once
// Checks that came to something, for tests of what is made of them.

#include <utility>

#include "analysis/checks/check_result.h"

namespace mrclab::test {

/// `check` with this result; a pass looked at one packet.
inline analysis::CheckResult with_result(analysis::CheckResult check, analysis::Result result) {
  using namespace analysis;
  std::string note = check.note;
  switch (result) {
    case Result::kPass:
      return passed(std::move(check),
                    {1, "packets", FabricTime::zero(), FabricTime::from_us(100), Source::kPackets});
    case Result::kFail: return failed(std::move(check), std::move(note));
    case Result::kInconclusive:
    case Result::kNoChecks: break;
  }
  return unjudged(std::move(check), std::move(note));
}

}  // namespace mrclab::test
