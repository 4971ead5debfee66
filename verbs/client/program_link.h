#pragma once
// The link of one program to its host's daemon, as a table of C functions. A process has exactly one connection. Where
// libmrclab-held.so is preloaded, it owns that connection (reads of the clock, sleeping and sockets go through it as
// well) and exports `mrclab_program_link`; else the verbs library makes a link of its own in mode kWall and exports
// nothing. The libraries find the symbol by dlsym(RTLD_DEFAULT, kProgramLinkSymbol), once, at their first call.
//
// Every function may be called from any thread, none from a signal handler. Errors are errno values, returned, never
// set. What calls cost in mode kHeld is spent by who makes them: the verbs libraries spend cost_call_ps at each request,
// cost_post_ps at each work request (before its at_ps is read) and cost_poll_ps at each poll that finds something; the
// held library cost_clock_ps. After fork the child is detached: attach() and call() return EIO there, now_ps() and spend() do nothing.

#include <cstdint>

#include "verbs/protocol/messages.h"
#include "verbs/protocol/ring.h"

namespace mrclab::verbs {

inline constexpr uint32_t kProgramLinkVersion = 1;
inline constexpr const char* kProgramLinkSymbol = "mrclab_program_link";
/// Most descriptors that one reply carries: the hello has two, others at most one.
inline constexpr uint32_t kMaxDescriptors = 4;

struct ProgramLink {
  uint32_t version;  ///< kProgramLinkVersion; a user refuses any other
  uint32_t size;     ///< sizeof(ProgramLink)

  /// Connects and greets unless that is done, and gives what the server told: the same objects at every call, valid
  /// until the process ends. `events` is the descriptor of AsyncEventWire (the owner of the link keeps it; to be polled
  /// and read, not closed). 0; ENOENT: no server here (this is no host of a lab); EIO: the link broke or is a forked
  /// child's; EPROTO: a server of another build.
  int (*attach)(const HelloReply** hello, WorkRing** work, int* events);

  /// One request, one reply. `request` begins with a RequestHeader of which op and size (the whole message, at most
  /// kMaxMessage) are set; the link fills in thread and spent_ps. At most `reply_room` bytes are stored at `reply`,
  /// which begins with a ReplyHeader; a reply shorter than `reply_room` whose status is 0 is EPROTO, one longer, too.
  /// With a status other than 0 a bare header is enough. Descriptors that came with it go to `descriptors` (room for
  /// kMaxDescriptors, or null: they are closed) and are the caller's; unused places are -1. Returns the reply's status;
  /// EIO where the link is broken, then and for ever.
  /// In mode kHeld the program's time stands at the reply's now_ps afterwards. A link that watches descriptors for
  /// poll() notes those of kCreateChannel's replies here, and forgets them at kDestroyChannel.
  int (*call)(const void* request, void* reply, uint32_t reply_room, int* descriptors);

  /// Fabric time of the program in picoseconds: the last reply's, and what was spent since (kHeld), or what the rate of
  /// the last reply makes of this machine's time since (kWall).
  uint64_t (*now_ps)();

  /// kHeld: the program used up `ps` by a call that needs no answer. The link asks for kAdvance by itself when that has
  /// become more than 100 us. kWall: nothing.
  void (*spend)(uint64_t ps);

  /// 0, or EIO once the link is broken: cheap enough for each post of a work request (it asks the kernel nothing, or at
  /// most whether the peer has hung up).
  int (*broken)();

  /// What holds now: a held program that cannot be held any longer becomes kWall, and stays it.
  Mode (*mode)();
};

/// Type of the exported symbol. Never null; the table is static.
using ProgramLinkFunction = const ProgramLink* (*)();

}  // namespace mrclab::verbs
