#pragma once
// A lab's folder before its record is in it: /run/mrclab/.<lab>.<pid>. create_record (lab_record.h)
// gives it the lab's name when the record is whole, so no folder of a lab is ever without one, and
// who wants the same name meanwhile hears who has it.

#include "lab/lab_record.h"

namespace mrclab::lab {

/// Removes the folders of processes that died before their lab had a record.
void remove_unborn(const LabPaths& paths);

}  // namespace mrclab::lab
