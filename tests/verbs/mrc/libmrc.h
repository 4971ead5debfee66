#pragma once
// libmrc.so of ours as a program finds it: by dlsym in a library loaded by its path.

#include <dlfcn.h>

#include <string>

#include "tests/verbs/client/program.h"
#include "verbs/mrc/control_abi.h"
#include "verbs/mrc/objects.h"

namespace mrclab::verbs::client_test {

inline std::string libmrc_path() { return MRCLAB_BINARY_DIR "/rdma/libmrc.so"; }

struct Mrc {
  Mrc() : library(dlopen(libmrc_path().c_str(), RTLD_NOW | RTLD_LOCAL)) {
    expect(library != nullptr, "dlopen of libmrc.so");
#define MRCLAB_BIND(name) \
  name = reinterpret_cast<decltype(&::mrc_##name)>(dlsym(library, "mrc_" #name))
    MRCLAB_BIND(query_device);
    MRCLAB_BIND(query_device_ex);
    MRCLAB_BIND(create_context);
    MRCLAB_BIND(destroy_context);
    MRCLAB_BIND(create_comp_channel);
    MRCLAB_BIND(get_comp_channel_fd);
    MRCLAB_BIND(destroy_comp_channel);
    MRCLAB_BIND(create_cq);
    MRCLAB_BIND(poll_cq);
    MRCLAB_BIND(destroy_cq);
    MRCLAB_BIND(req_notify_cq);
    MRCLAB_BIND(get_cq_event);
    MRCLAB_BIND(ack_cq_events);
    MRCLAB_BIND(create_qp_hint);
    MRCLAB_BIND(destroy_qp_hint);
    MRCLAB_BIND(query_qp_hint);
    MRCLAB_BIND(modify_qp_hint);
    MRCLAB_BIND(create_qp);
    MRCLAB_BIND(destroy_qp);
    MRCLAB_BIND(modify_qp);
    MRCLAB_BIND(query_qp);
    MRCLAB_BIND(get_qpn);
    MRCLAB_BIND(post_send);
    MRCLAB_BIND(post_recv);
    MRCLAB_BIND(ctl_modify_ev_profile);
    MRCLAB_BIND(ctl_poll_ev_event);
#undef MRCLAB_BIND
  }
  void* library;
#define MRCLAB_MEMBER(name) decltype(&::mrc_##name) name
  MRCLAB_MEMBER(query_device);
  MRCLAB_MEMBER(query_device_ex);
  MRCLAB_MEMBER(create_context);
  MRCLAB_MEMBER(destroy_context);
  MRCLAB_MEMBER(create_comp_channel);
  MRCLAB_MEMBER(get_comp_channel_fd);
  MRCLAB_MEMBER(destroy_comp_channel);
  MRCLAB_MEMBER(create_cq);
  MRCLAB_MEMBER(poll_cq);
  MRCLAB_MEMBER(destroy_cq);
  MRCLAB_MEMBER(req_notify_cq);
  MRCLAB_MEMBER(get_cq_event);
  MRCLAB_MEMBER(ack_cq_events);
  MRCLAB_MEMBER(create_qp_hint);
  MRCLAB_MEMBER(destroy_qp_hint);
  MRCLAB_MEMBER(query_qp_hint);
  MRCLAB_MEMBER(modify_qp_hint);
  MRCLAB_MEMBER(create_qp);
  MRCLAB_MEMBER(destroy_qp);
  MRCLAB_MEMBER(modify_qp);
  MRCLAB_MEMBER(query_qp);
  MRCLAB_MEMBER(get_qpn);
  MRCLAB_MEMBER(post_send);
  MRCLAB_MEMBER(post_recv);
  MRCLAB_MEMBER(ctl_modify_ev_profile);
  MRCLAB_MEMBER(ctl_poll_ev_event);
#undef MRCLAB_MEMBER
};

inline LoopbackOptions mrc_device() {
  LoopbackOptions options;
  options.capabilities = kCanWrite;
  options.device = "mrc0";
  options.transport = 0;
  return options;
}

/// A context of libmrc with two queue pairs that are connected to each other as the OCP benchmark does it: with no
/// attribute of MRC and with attributes of verbs that MRC does not have.
struct MrcPair {
  MrcPair(const Verbs& verbs, const Mrc& mrc, mrc_comp_channel* channel = nullptr,
          mrc_qp_hint* hint = nullptr);
  /// A connected pair in a context that is there already.
  ibv_send_wr write(ibv_sge& sge, uint64_t id, uint32_t bytes, unsigned flags) const;
  /// The next completion; fails when there is none for a long time.
  ibv_wc next() const;

  const Verbs& verbs;
  const Mrc& mrc;
  ibv_context* context = nullptr;
  mrc_context* mrc_context_ = nullptr;
  ibv_pd* pd = nullptr;
  ibv_mr* mr = nullptr;
  mrc_cq* cq = nullptr;
  mrc_qp* qp[2] = {nullptr, nullptr};
  alignas(64) char memory[8192] = {};
};

ibv_context* open_first(const Verbs& verbs);

}  // namespace mrclab::verbs::client_test
