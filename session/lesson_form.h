#pragma once
// The keys of the front matter of lessons (lesson.h), what each may hold and what it means.

#include "fabric/text/value_form.h"

namespace mrclab::lab {

inline constexpr size_t kMaxTasks = 16;

const ValueForm& lesson_form();

}  // namespace mrclab::lab
