#include "verbs/client/link.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "verbs/client/wall_link.h"

namespace mrclab::verbs {
namespace {

std::atomic<bool> gone{false};
LinkData data;  // written once, under the lock of open_link()

/// In the child of a fork the server is the parent's: nothing may wait for a lock that a thread of the parent held.
void lose_server() { gone.store(true); }

const ProgramLink* find_link() {
  void* symbol = dlsym(RTLD_DEFAULT, kProgramLinkSymbol);
  if (symbol != nullptr) {
    const ProgramLink* held = reinterpret_cast<ProgramLinkFunction>(symbol)();
    if (held != nullptr && held->version == kProgramLinkVersion &&
        held->size == sizeof(ProgramLink)) {
      return held;
    }
  }
  return wall_link();
}

}  // namespace

const ProgramLink& program_link() {
  static std::atomic<const ProgramLink*> found{nullptr};
  const ProgramLink* link = found.load(std::memory_order_acquire);
  if (link == nullptr) {
    link = find_link();  // twice by two threads at once: the answer is the same
    found.store(link, std::memory_order_release);
  }
  return *link;
}

int open_link() {
  LinkData now;
  const int error = program_link().attach(&now.hello, &now.work, &now.events);
  if (error == 0) {
    data = now;  // attach() gives the same at every call
    static std::atomic<bool> watches_forks{false};
    if (!watches_forks.exchange(true)) {
      pthread_atfork(nullptr, nullptr, lose_server);
    }
  }
  return error;
}

const LinkData& link_data() { return data; }

bool server_gone(bool look) {
  if (!gone.load(std::memory_order_relaxed) && look && program_link().broken() != 0) {
    gone.store(true);
  }
  return gone.load(std::memory_order_relaxed);
}

int ask_raw(Op op, const void* body, uint32_t body_bytes, void* reply_body, uint32_t reply_bytes,
            int* descriptors) {
  // On the stack: the largest bodies are those of libmrc.so, which calls the link itself.
  struct {
    RequestHeader head;
    uint8_t body[512];
  } request{};
  struct {
    ReplyHeader head;
    uint8_t body[512];
  } reply{};
  if (body_bytes > sizeof(request.body) || reply_bytes > sizeof(reply.body)) {
    return EINVAL;
  }
  const ProgramLink& link = program_link();
  const bool lets_time_pass = op == Op::kPollEmpty || op == Op::kWait || op == Op::kFlushWork;
  if (!lets_time_pass && link.mode() == Mode::kHeld) {
    link.spend(data.hello->cost_call_ps);
  }
  request.head.op = op;
  request.head.size = static_cast<uint32_t>(sizeof(RequestHeader)) + body_bytes;
  if (body_bytes > 0) {
    memcpy(request.body, body, body_bytes);
  }
  const int error = link.call(
      &request, &reply, static_cast<uint32_t>(sizeof(ReplyHeader)) + reply_bytes, descriptors);
  if (error == 0 && reply_bytes > 0) {
    memcpy(reply_body, reply.body, reply_bytes);
  }
  if (error == EIO || error == EPROTO) {
    server_gone(true);
  }
  return error;
}

}  // namespace mrclab::verbs
