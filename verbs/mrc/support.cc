#include "verbs/mrc/support.h"

#include <dlfcn.h>

#include <cstring>

namespace mrclab::mrc {

namespace {

template <typename Function>
bool find(void* library, const char* name, const char* version, Function& function) {
  void* symbol = ::dlvsym(library, name, version);
  std::memcpy(&function, &symbol, sizeof symbol);
  return symbol != nullptr;
}

bool find_verbs(void* library, Verbs& verbs) {
  return find(library, "ibv_create_comp_channel", "IBVERBS_1.0", verbs.create_comp_channel) &&
         find(library, "ibv_destroy_comp_channel", "IBVERBS_1.0", verbs.destroy_comp_channel) &&
         find(library, "ibv_create_cq", "IBVERBS_1.1", verbs.create_cq) &&
         find(library, "ibv_destroy_cq", "IBVERBS_1.1", verbs.destroy_cq) &&
         find(library, "ibv_get_cq_event", "IBVERBS_1.1", verbs.get_cq_event) &&
         find(library, "ibv_ack_cq_events", "IBVERBS_1.1", verbs.ack_cq_events) &&
         find(library, "ibv_create_qp", "IBVERBS_1.1", verbs.create_qp) &&
         find(library, "ibv_destroy_qp", "IBVERBS_1.1", verbs.destroy_qp) &&
         find(library, "ibv_query_qp", "IBVERBS_1.1", verbs.query_qp) &&
         find(library, "ibv_get_async_event", "IBVERBS_1.1", verbs.get_async_event) &&
         find(library, "ibv_ack_async_event", "IBVERBS_1.1", verbs.ack_async_event);
}

bool find_in(void* library, ibv_context* context, Support& support) {
  verbs::SharedClientFunction function = nullptr;
  void* symbol = ::dlsym(library, "mrclab_verbs_client");
  std::memcpy(&function, &symbol, sizeof symbol);
  if (function == nullptr) return false;
  support.client = function();
  if (support.client->version != verbs::kSharedClientVersion ||
      support.client->size != sizeof(verbs::SharedClient) ||
      !support.client->owns_context(context)) {
    return false;
  }
  verbs::WorkRing* work = nullptr;
  int events = -1;
  return support.client->link()->attach(&support.hello, &work, &events) == 0 &&
         find_verbs(library, support.verbs);
}

}  // namespace

bool find_support(ibv_context* context, Support& support) {
  if (context == nullptr) return false;
  // Somebody may have hooked some of the functions of a context; one that is still ours will do.
  void* const functions[] = {reinterpret_cast<void*>(context->ops.req_notify_cq),
                             reinterpret_cast<void*>(context->ops.poll_cq),
                             reinterpret_cast<void*>(context->ops.post_send)};
  for (void* function : functions) {
    Dl_info where{};
    if (function == nullptr || ::dladdr(function, &where) == 0 || where.dli_fname == nullptr) {
      continue;
    }
    void* library = ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    const bool found = find_in(library, context, support);
    ::dlclose(library);  // Its context keeps it loaded.
    if (found) return true;
  }
  return false;
}

}  // namespace mrclab::mrc
