#pragma once
// The folder of a lab before its record is in it: /run/mrclab/.<lab>.<pid>. create_record
// (lab_record.h) gives it the lab's name when the record is whole. So the folder of a lab always
// has a record, and a second lab that wants the name is told which lab has it.

#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// Removes the folders of processes that died before their lab had a record.
void remove_unborn(const LabPaths& paths);

}  // namespace mrclab::lab
