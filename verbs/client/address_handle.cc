// Address handles. Queue pairs of datagrams do not exist here, so that nothing is sent by one; programs make them before
// they know.

#include <arpa/inet.h>
#include <string.h>

#include "verbs/client/operations.h"

using namespace mrclab::verbs;

namespace {
std::atomic<uint32_t> last_handle{0};
std::atomic<uint32_t> handles{0};
}  // namespace

extern "C" {

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attr) {
  Pd* domain = object_of(pd);
  if (!intact(*domain)) {
    return failed_with<ibv_ah>(ENOENT);
  }
  // On Ethernet an address is a GID.
  if (attr->port_num != 1 || attr->is_global == 0 || attr->grh.sgid_index >= kGidTable) {
    return failed_with<ibv_ah>(EINVAL);
  }
  if (++handles > kMaxAhs) {
    --handles;
    return failed_with<ibv_ah>(ENOMEM);
  }
  Ah* ah = make<Ah>();
  if (ah == nullptr) {
    --handles;
    return failed_with<ibv_ah>(ENOMEM);
  }
  ah->pd = domain;
  ah->handle = ++last_handle;
  ah->attributes = *attr;
  ah->base.context = pd->context;
  ah->base.pd = pd;
  ah->base.handle = ah->handle;
  ++domain->users;
  hold(pd->context);
  return &ah->base;
}

int ibv_destroy_ah(ibv_ah* ah) {
  Ah* own = reinterpret_cast<Ah*>(ah);
  if (ah->handle != own->handle) {
    return failed(ENOENT);
  }
  --own->pd->users;
  drop(own->pd->base.context);
  delete own;
  --handles;
  return 0;
}

int ibv_init_ah_from_wc(ibv_context*, uint8_t port_num, ibv_wc* wc, ibv_grh* grh,
                        ibv_ah_attr* ah_attr) {
  if (port_num != 1 || (wc->wc_flags & IBV_WC_GRH) == 0) {
    return failed(EINVAL);
  }
  memset(ah_attr, 0, sizeof(*ah_attr));
  ah_attr->dlid = wc->slid;
  ah_attr->sl = wc->sl;
  ah_attr->src_path_bits = wc->dlid_path_bits;
  ah_attr->port_num = port_num;
  ah_attr->is_global = 1;
  ah_attr->grh.dgid = grh->sgid;
  const uint32_t flow = ntohl(grh->version_tclass_flow);
  ah_attr->grh.flow_label = flow & 0xFFFFF;
  ah_attr->grh.traffic_class = static_cast<uint8_t>(flow >> 20);
  ah_attr->grh.hop_limit = grh->hop_limit;
  return 0;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, uint8_t port_num) {
  ibv_ah_attr attributes;
  const int error = ibv_init_ah_from_wc(pd->context, port_num, wc, grh, &attributes);
  return error == 0 ? ibv_create_ah(pd, &attributes) : nullptr;
}

MRCLAB_LATEST(ibv_create_ah);
MRCLAB_LATEST(ibv_destroy_ah);

}  // extern "C"
