#pragma once
// The process's link to its host's daemon, whoever owns it (program_link.h), and requests over it as typed calls.

#include <string.h>

#include "verbs/client/program_link.h"

namespace mrclab::verbs {

/// The held library's where that is preloaded, else wall_link(). Never null.
const ProgramLink& program_link();

/// Of the attached link; valid for ever once open_link() returned 0.
struct LinkData {
  const HelloReply* hello = nullptr;
  WorkRing* work = nullptr;
  int events = -1;
};
/// 0, or the errno of ProgramLink::attach.
int open_link();
const LinkData& link_data();

inline bool is_held() { return program_link().mode() == Mode::kHeld; }

/// Whether the server is known to be gone: from then on everything fails with EIO. `look` asks the link, too.
bool server_gone(bool look);

/// One request without a body of its own (see ask). In mode kHeld it costs cost_call_ps.
int ask_raw(Op op, const void* body, uint32_t body_bytes, void* reply_body, uint32_t reply_bytes,
            int* descriptors);

/// `Request` and `Reply` are those that messages.h names beside `op`. 0 or an errno. `descriptors`: kMaxDescriptors places,
/// or null.
template <typename Request, typename Reply>
int ask(Op op, const Request& request, Reply* reply, int* descriptors = nullptr) {
  return ask_raw(op, &request, sizeof(request), reply, sizeof(Reply), descriptors);
}
template <typename Request>
int tell(Op op, const Request& request) {
  return ask_raw(op, &request, sizeof(request), nullptr, 0, nullptr);
}

}  // namespace mrclab::verbs
