#include "verbs/mrc/objects.h"

#include <cerrno>
#include <new>

namespace mrclab::mrc {

namespace {

template <typename T>
void unlink_and_free(T* object) {
  mrc_context* context = object->context;
  {
    const mrclab::verbs::Guard lock(context->mutex);
    if (object->previous != nullptr) object->previous->next = object->next;
    if (object->next != nullptr) object->next->previous = object->previous;
    if (context->children == object) context->children = object->next;
  }
  object->kind.store(0);
  delete object;
}

}  // namespace

int verbs_error(int error) {
  errno = error;
  return error;
}

int plain_error(int error) {
  errno = error;
  return -1;
}

template <typename T>
T* make(mrc_context* context) {
  T* object = new (std::nothrow) T;
  if (object == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  object->context = context;
  object->kind.store(static_cast<uint32_t>(kKindOf<T>));
  const mrclab::verbs::Guard lock(context->mutex);
  object->next = context->children;
  if (object->next != nullptr) object->next->previous = object;
  context->children = object;
  return object;
}
template mrc_comp_channel* make(mrc_context*);
template mrc_cq* make(mrc_context*);
template mrc_qp_hint* make(mrc_context*);
template mrc_qp* make(mrc_context*);

void forget(mrc_comp_channel* object) { unlink_and_free(object); }
void forget(mrc_cq* object) { unlink_and_free(object); }
void forget(mrc_qp_hint* object) { unlink_and_free(object); }
void forget(mrc_qp* object) { unlink_and_free(object); }

}  // namespace mrclab::mrc
