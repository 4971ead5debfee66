#pragma once
// timerfd at fabric time.

#include <time.h>

#include "verbs/held/sockets.h"

namespace mrclab::verbs::held {

void set_timer(File& file, bool absolute, const itimerspec& timer);
itimerspec timer_left(const File& file);
/// read(): how often it has expired, 8 bytes.
Outcome read_timer(int fd, File& file, void* buffer, size_t size);

}  // namespace mrclab::verbs::held
