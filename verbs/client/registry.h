#pragma once
// Objects by the handles that events carry, and the events of each that the program has not acknowledged yet.

#include "verbs/client/objects.h"

namespace mrclab::verbs {

void enter(Registered& entry, void* object, Kind kind, uint32_t handle);
/// No event finds it any more; those already given to the program still have to be acknowledged.
void leave(Registered& entry);
/// The object of this kind and handle, with one more event given; null: there is none (any more).
Registered* find_for_async_event(Kind kind, uint32_t handle);
/// A completion queue, with one more event of its channel given; null: there is none (any more).
Cq* find_for_channel_event(uint32_t handle);

}  // namespace mrclab::verbs
