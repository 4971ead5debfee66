#pragma once
// A queue pair's attributes in the server, for the verbs and for libmrc.so.

#include "verbs/client/objects.h"

namespace mrclab::verbs {

/// Sends the attributes and stores what was set; `mrc` may be null. 0 or an errno.
int change_qp(Qp& qp, const ibv_qp_attr& attributes, int mask, const QpAttributesWire* mrc,
              uint32_t mrc_mask);
int read_qp(const Qp& qp, QpAttributesWire& attributes);

}  // namespace mrclab::verbs
