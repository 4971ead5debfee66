#pragma once
// What the controller's functions share: who may call them, and profiles on their way to and from the host.

#include "verbs/mrc/control_abi.h"
#include "verbs/mrc/objects.h"

namespace mrclab::mrc {

/// 0; EINVAL for no context; EPERM without CAP_NET_ADMIN, which mrc_ctl.h demands.
int check_controller(const mrc_context* context);

struct ProfileMessage {
  verbs::RequestHeader header;
  verbs::ProfileWire profile;
};
struct ProfileAnswer {
  verbs::ReplyHeader header;
  verbs::ProfileWire profile;
};

/// Sets what `wire.mask` says. 0 or an errno.
int modify_profile(mrc_context& context, const verbs::ProfileWire& wire);
/// Asks for what `wire.mask` says; the answer is in its place.
int query_profile(mrc_context& context, verbs::ProfileWire& wire);

/// The port, from 1, of an entropy value: its plane.
uint8_t port_of(uint32_t ev);
/// The value as 4 bytes; EINVAL where there is more, or another port than its own (0: not said).
int value_of(const Ev& ev, uint32_t& value);
Ev ev_of(uint32_t value);

}  // namespace mrclab::mrc
