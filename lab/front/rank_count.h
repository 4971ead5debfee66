#pragma once
// Whether mpirun has started this process, as one of several.

namespace mrclab::lab {

bool is_one_of_many();

}  // namespace mrclab::lab
