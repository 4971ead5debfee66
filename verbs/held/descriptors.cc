#include "verbs/held/descriptors.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <cstring>

#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

File files[kMaxFiles];
uint16_t place_of[kMaxDescriptor];  // + 1; 0: none

/// Memory of the table that files keep until the process ends, whoever has the place: no allocation at a close.
template <typename T>
T* kept(T* memory, uint32_t count) {
  if (memory != nullptr) return memory;
  const long at = raw(SYS_mmap, 0, static_cast<long>(count * sizeof(T)), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1);
  return at < 0 && at > -4096 ? nullptr : reinterpret_cast<T*>(at);
}

}  // namespace

File* file_of(int fd) {
  if (fd < 0 || fd >= kMaxDescriptor || place_of[fd] == 0) return nullptr;
  return &files[place_of[fd] - 1];
}

namespace {

File* take_place(Kind kind) {
  for (uint16_t i = 0; i < kMaxFiles; ++i) {
    File& file = files[i];
    if (file.descriptors != 0) continue;
    EarlyConnection* const early = file.early;
    Interest* const interests = file.interests;
    file = File{};
    file.kind = kind;
    file.number = i + 1u;
    file.expires_ps = kNever;
    file.early = kind == Kind::kSocket ? kept(early, kMaxBacklog) : early;
    file.interests = kind == Kind::kEpoll ? kept(interests, kMaxInterests) : interests;
    if ((kind == Kind::kSocket && file.early == nullptr) ||
        (kind == Kind::kEpoll && file.interests == nullptr))
      break;
    file.descriptors = 1;
    return &file;
  }
  not_held(__builtin_return_address(0), "has more descriptors than the table of held ones");
  return nullptr;
}

}  // namespace

File* add_file(int fd, Kind kind) {
  if (fd < 0) return nullptr;
  drop_descriptor(fd);
  File* const file = take_place(kind);
  if (file != nullptr) give_descriptor(*file, fd);
  return file_of(fd);
}

File* add_spare_file() { return take_place(Kind::kSocket); }

void give_descriptor(File& file, int fd) {
  if (fd < kMaxDescriptor) {
    place_of[fd] = static_cast<uint16_t>(file.number);
    return;
  }
  file.descriptors = 0;
  not_held(__builtin_return_address(0), "has more descriptors than the table of held ones");
}

void drop_descriptor(int fd) {
  File* const file = file_of(fd);
  if (file == nullptr) return;
  place_of[fd] = 0;
  if (--file->descriptors == 0 && file->kind == Kind::kSocket) close_socket(*file);
}

void copy_descriptor(int from, int to) {
  if (from == to || to < 0) return;
  drop_descriptor(to);
  File* const file = file_of(from);
  if (file == nullptr) return;
  if (to >= kMaxDescriptor) {
    not_held(__builtin_return_address(0), "has more descriptors than the table of held ones");
    return;
  }
  place_of[to] = place_of[from];
  ++file->descriptors;
}

void forget_interest(int fd) {
  for (File& file : files) {
    if (file.descriptors == 0 || file.kind != Kind::kEpoll) continue;
    for (uint32_t i = 0; i < file.interest_count; ++i)
      if (file.interests[i].fd == fd) file.interests[i].fd = -1;
  }
}

void watch_events(int fd) { add_file(fd, Kind::kEvents); }

bool is_nonblocking(int fd) {
  const long flags = raw(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

}  // namespace mrclab::verbs::held
