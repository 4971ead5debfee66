#pragma once
// A program of the tests: a child process with our libibverbs.so.1, whose connection is its own. It is loaded by path, as
// the test's process must not have one.

#include <infiniband/verbs.h>

#undef ibv_query_port
#undef ibv_reg_mr

#include <functional>
#include <string>

#include "tests/verbs/client/loopback_server.h"

namespace mrclab::verbs::client_test {

/// The verbs that are symbols; the others go through a context's operations.
struct Verbs {
  explicit Verbs(void* library);
#define MRCLAB_VERB(name) decltype(&::ibv_##name) name
  MRCLAB_VERB(get_device_list);
  MRCLAB_VERB(free_device_list);
  MRCLAB_VERB(open_device);
  MRCLAB_VERB(close_device);
  MRCLAB_VERB(query_device);
  MRCLAB_VERB(query_port);
  MRCLAB_VERB(query_gid);
  MRCLAB_VERB(alloc_pd);
  MRCLAB_VERB(dealloc_pd);
  MRCLAB_VERB(reg_mr);
  MRCLAB_VERB(dereg_mr);
  MRCLAB_VERB(create_comp_channel);
  MRCLAB_VERB(destroy_comp_channel);
  MRCLAB_VERB(create_cq);
  MRCLAB_VERB(destroy_cq);
  MRCLAB_VERB(get_cq_event);
  MRCLAB_VERB(ack_cq_events);
  MRCLAB_VERB(get_async_event);
  MRCLAB_VERB(ack_async_event);
  MRCLAB_VERB(create_qp);
  MRCLAB_VERB(modify_qp);
  MRCLAB_VERB(query_qp);
  MRCLAB_VERB(destroy_qp);
  MRCLAB_VERB(create_srq);
  MRCLAB_VERB(query_srq);
  MRCLAB_VERB(destroy_srq);
#undef MRCLAB_VERB
};

/// What fails in a program is told in words.
struct Failure {
  std::string what;
};
inline void expect(bool holds, const std::string& what) {
  if (!holds) {
    throw Failure{what};
  }
}

/// Two queue pairs of one device that are connected to each other, with a buffer that both may use.
struct ConnectedPair {
  ConnectedPair(const Verbs& verbs, uint32_t depth,
                ibv_comp_channel* (*make_channel)(const Verbs&, ibv_context*));
  const Verbs& verbs;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_comp_channel* channel = nullptr;
  ibv_cq* cq = nullptr;
  ibv_qp* qp[2] = {nullptr, nullptr};
  ibv_mr* mr = nullptr;
  alignas(64) char memory[8192] = {};

  /// A write of `bytes` from the first page to the second.
  ibv_send_wr write(ibv_sge& sge, uint64_t id, uint32_t bytes, unsigned flags) const;
  int post(ibv_send_wr& wr) const;
  /// The next completion; fails when there is none for seconds.
  ibv_wc next() const;
  void destroy();
};

/// Runs a program against a server of these options; what failed in it, or "" (a crash is told as well). The server runs in
/// this process until the program has ended; `meanwhile`, if there is one, is called between its ticks.
std::string run_program(LoopbackOptions options, const std::function<void(const Verbs&)>& program,
                        const std::function<void(LoopbackServer&)>& meanwhile = {});

/// Of our library, in the build folder.
std::string library_path();

}  // namespace mrclab::verbs::client_test
