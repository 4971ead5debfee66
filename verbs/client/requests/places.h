#pragma once
// The places of a queue pair's queues. A request takes one when it is posted and gives it back with its completion; a send
// that asked for no completion gives it back with the next one of its queue (IBTA 10.8.3.1), so that a program that never
// asks runs out.

#include "verbs/client/objects.h"

namespace mrclab::verbs {

/// Null memory where there is none: false.
bool make_places(Places& places, uint32_t room);
void free_places(Places& places);

/// All with the queue pair's places_mutex not held.
bool take_place(Qp& qp, Places& places, const Places::Place& place);
bool has_places(Qp& qp, const Places& places, uint32_t count);
/// The last one taken, whose request was not written after all.
void return_place(Qp& qp, Places& places);
/// Both queues of a queue pair that was reset.
void clear_places(Qp& qp);
/// A completion of the queue pair, by which places become free. A request without success also completes without having
/// asked; the opcode becomes that of the request.
void free_by_completion(Qp& qp, CompletionEntry& entry);
/// The oldest request that holds a place, which it gives back: without a server it is flushed. False: none.
bool flush_oldest(Qp& qp, bool receive, CompletionEntry& entry);

}  // namespace mrclab::verbs
