#pragma once
// The keys of the front matter of lessons (lesson.h), a row for each: what it may hold, what it means, how it is read.

#include "fabric/text/key_table.h"
#include "session/lesson.h"

namespace mrclab::lab {

inline constexpr size_t kMaxTasks = 16;

const KeyTable<Lesson>& lesson_keys();

}  // namespace mrclab::lab
