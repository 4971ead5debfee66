#include <cerrno>
#include <cstring>

#include "verbs/mrc/objects.h"

using mrclab::mrc::HintAttr;
using mrclab::mrc::plain_error;
using mrclab::mrc::valid;

namespace {

constexpr int kKnown = static_cast<int>(mrclab::mrc::kHintQpsPerPeer | mrclab::mrc::kHintSendPeers |
                                        mrclab::mrc::kHintReceivePeers | mrclab::mrc::kHintVendor);

bool can_be(const HintAttr& attr) {
  return attr.qps_per_peer >= 0 && attr.send_peers >= 0 && attr.remote_receive_peers >= 0;
}

void copy(const HintAttr& from, HintAttr& to, int mask) {
  const auto bits = static_cast<uint32_t>(mask);
  if (bits & mrclab::mrc::kHintQpsPerPeer) to.qps_per_peer = from.qps_per_peer;
  if (bits & mrclab::mrc::kHintSendPeers) to.send_peers = from.send_peers;
  if (bits & mrclab::mrc::kHintReceivePeers) to.remote_receive_peers = from.remote_receive_peers;
  if (bits & mrclab::mrc::kHintVendor) std::memcpy(to.vendor, from.vendor, sizeof to.vendor);
}

}  // namespace

mrc_qp_hint* mrc_create_qp_hint(mrc_context* context, HintAttr* attr) {
  if (!valid(context) || attr == nullptr || !can_be(*attr)) {
    errno = EINVAL;
    return nullptr;
  }
  auto* made = mrclab::mrc::make<mrc_qp_hint>(context);
  if (made != nullptr) made->attr = *attr;
  return made;
}

int mrc_destroy_qp_hint(mrc_qp_hint* hint) {
  if (!valid(hint)) return plain_error(EINVAL);
  if (hint->users.load() != 0) return plain_error(EBUSY);
  mrclab::mrc::forget(hint);
  return 0;
}

int mrc_query_qp_hint(mrc_qp_hint* hint, HintAttr* attr, int mask) {
  if (!valid(hint) || attr == nullptr || (mask & ~kKnown) != 0) return plain_error(EINVAL);
  const mrclab::verbs::Guard lock(hint->context->mutex);
  copy(hint->attr, *attr, mask);
  return 0;
}

int mrc_modify_qp_hint(mrc_qp_hint* hint, HintAttr* attr, int mask) {
  if (!valid(hint) || attr == nullptr || (mask & ~kKnown) != 0) return plain_error(EINVAL);
  const mrclab::verbs::Guard lock(hint->context->mutex);
  HintAttr changed = hint->attr;
  copy(*attr, changed, mask);
  if (!can_be(changed)) return plain_error(EINVAL);
  hint->attr = changed;
  return 0;
}
