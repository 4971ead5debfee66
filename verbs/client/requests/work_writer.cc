#include "verbs/client/requests/work_writer.h"

#include <errno.h>
#include <string.h>

#include "verbs/client/guard.h"

namespace mrclab::verbs {
namespace {

Mutex mutex;
uint64_t written = 0;  // the ring's own could be changed by the server
bool broken = false;

/// With the mutex held, so that nobody fills the room again.
int wait_for_room(const WorkRing& ring, uint64_t bytes) {
  for (int tries = 0; tries < 2; ++tries) {
    const uint64_t taken = ring.taken.load(std::memory_order_acquire);
    if (taken > written || written - taken > kWorkRingBytes) {
      broken = true;
      return EIO;
    }
    if (written + bytes - taken <= kWorkRingBytes) {
      return 0;
    }
    const int error = ask_raw(Op::kFlushWork, nullptr, 0, nullptr, 0, nullptr);
    if (error != 0) {
      return error;
    }
  }
  broken = true;  // it said that it had taken everything
  return EIO;
}

}  // namespace

int write_work(WorkRecord& head, const Piece* pieces, uint32_t count) {
  uint32_t bytes = sizeof(WorkRecord);
  for (uint32_t i = 0; i < count; ++i) {
    bytes += pieces[i].bytes;
  }
  head.bytes = (bytes + 7) & ~7u;
  if (server_gone(false)) {
    return EIO;  // before the mutex, which in a forked child may be nobody's
  }
  const Guard guard(mutex);
  if (broken || server_gone(false)) {
    return EIO;
  }
  WorkRing& ring = *link_data().work;
  const uint32_t offset = static_cast<uint32_t>(written % kWorkRingBytes);
  const uint32_t padding = offset + head.bytes > kWorkRingBytes ? kWorkRingBytes - offset : 0;
  const int error = wait_for_room(ring, uint64_t{padding} + head.bytes);
  if (error != 0) {
    return error;
  }
  if (padding > 0) {
    // There may be room for no more than the first 8 bytes of a record.
    memcpy(&ring.records[offset], &padding, sizeof(padding));
    memcpy(&ring.records[offset + offsetof(WorkRecord, kind)], &kWorkPadding, sizeof(kWorkPadding));
  }
  const ProgramLink& link = program_link();
  if (link.mode() == Mode::kHeld) {
    link.spend(link_data().hello->cost_post_ps);
    head.at_ps = link.now_ps();
  }
  uint8_t* at = &ring.records[(offset + padding) % kWorkRingBytes];
  memcpy(at, &head, sizeof(head));
  at += sizeof(head);
  for (uint32_t i = 0; i < count; ++i) {
    if (pieces[i].bytes > 0) {  // else the data may be null
      memcpy(at, pieces[i].data, pieces[i].bytes);
    }
    at += pieces[i].bytes;
  }
  memset(at, 0, head.bytes - bytes);
  written += uint64_t{padding} + head.bytes;
  ring.written.store(written, std::memory_order_release);
  return 0;
}

}  // namespace mrclab::verbs
