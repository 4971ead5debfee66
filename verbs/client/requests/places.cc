#include "verbs/client/requests/places.h"

#include <stdlib.h>
#include <string.h>

namespace mrclab::verbs {

bool make_places(Places& places, uint32_t room) {
  places = Places{};
  places.room = room;
  places.places = static_cast<Places::Place*>(calloc(room > 0 ? room : 1, sizeof(Places::Place)));
  return places.places != nullptr;
}

void free_places(Places& places) {
  free(places.places);
  places.places = nullptr;
}

bool take_place(Qp& qp, Places& places, const Places::Place& place) {
  const Guard guard(qp.places_mutex);
  if (places.posted - places.freed >= places.room) {
    return false;
  }
  places.places[places.posted++ % places.room] = place;
  return true;
}

bool has_places(Qp& qp, const Places& places, uint32_t count) {
  const Guard guard(qp.places_mutex);
  return places.room - (places.posted - places.freed) >= count;
}

void return_place(Qp& qp, Places& places) {
  const Guard guard(qp.places_mutex);
  --places.posted;
}

void clear_places(Qp& qp) {
  const Guard guard(qp.places_mutex);
  qp.sends.freed = qp.sends.posted;
  qp.receives.freed = qp.receives.posted;
}

void free_by_completion(Qp& qp, CompletionEntry& entry) {
  if ((entry.opcode & IBV_WC_RECV) != 0) {
    if (qp.srq != nullptr) {
      // One completion gives one place back; a server that completes more than was posted gives none.
      uint32_t count = qp.srq->outstanding.load();
      while (count > 0 && !qp.srq->outstanding.compare_exchange_weak(count, count - 1)) {
      }
      return;
    }
    const Guard guard(qp.places_mutex);
    qp.receives.freed += qp.receives.freed < qp.receives.posted ? 1 : 0;
    return;
  }
  const Guard guard(qp.places_mutex);
  Places& sends = qp.sends;
  const bool success = entry.status == IBV_WC_SUCCESS;
  for (uint64_t at = sends.freed; at != sends.posted; ++at) {
    const Places::Place& place = sends.places[at % sends.room];
    if (place.wr_id == entry.wr_id && (place.signaled || !success)) {
      entry.opcode = place.opcode;
      sends.freed = at + 1;
      return;
    }
    if (place.signaled) {
      return;  // a completion of a request that is not the oldest with one: not ours to explain
    }
  }
}

bool flush_oldest(Qp& qp, bool receive, CompletionEntry& entry) {
  const Guard guard(qp.places_mutex);
  Places& places = receive ? qp.receives : qp.sends;
  if (places.freed == places.posted) {
    return false;
  }
  const Places::Place& place = places.places[places.freed++ % places.room];
  memset(&entry, 0, sizeof(entry));
  entry.wr_id = place.wr_id;
  entry.opcode = place.opcode;
  entry.status = IBV_WC_WR_FLUSH_ERR;
  entry.qpn = qp.qpn;
  return true;
}

}  // namespace mrclab::verbs
