#pragma once
// Which attributes a transition of a queue pair of RC needs and may have: IBTA 11.2.5.2 and the tables that Linux has of
// it. Programs of others test that a modify without one fails; the server relies on none of it.

#include "verbs/client/abi.h"

namespace mrclab::verbs {

/// Whether a modify from `current` with these attributes is one that verbs allow. `mask` are bits of ibv_qp_attr_mask.
bool is_allowed(ibv_qp_state current, ibv_qp_state next, int mask);
/// The values behind the mask, as far as a device of one port checks them.
bool has_right_values(const ibv_qp_attr& attributes, int mask);
/// Stores what `mask` names.
void merge(ibv_qp_attr& into, const ibv_qp_attr& from, int mask);

}  // namespace mrclab::verbs
