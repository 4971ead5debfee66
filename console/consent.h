#pragma once

namespace mrclab::lab {

/// Asks "Run them? [y/N]" on the terminal, after what would run was shown. False without a terminal, and for any answer
/// but yes.
bool asked_and_allowed();

}  // namespace mrclab::lab
