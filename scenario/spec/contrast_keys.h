#pragma once
// The keys of an entry of `contrast:`, a row for each, by which contrast.h's entries are read and written.

#include "fabric/text/value_form.h"

namespace mrclab::lab {

const ValueForm& contrast_form();

}  // namespace mrclab::lab
