#pragma once
// What is behind the handles of libmrc. Objects of verbs (queues, channels, queue pairs) are made by our libibverbs; what
// stands here is what MRC has beside them. A handle is checked by its kind, so that a stale or foreign one is refused
// with EINVAL as long as its memory still exists, never followed.

#include <atomic>

#include "verbs/client/guard.h"
#include "verbs/mrc/abi.h"
#include "verbs/mrc/support.h"

namespace mrclab::mrc {

enum class Kind : uint32_t {
  kContext = 0x6d726301,
  kChannel = 0x6d726302,
  kCq = 0x6d726303,
  kHint = 0x6d726304,
  kQp = 0x6d726305,
};

/// Begin of every object: its kind (another value once it is destroyed), its context, its neighbours there.
struct Object {
  std::atomic<uint32_t> kind{0};
  mrc_context* context = nullptr;
  Object* next = nullptr;
  Object* previous = nullptr;
};

/// errno is `error` afterwards; gives it back, as functions with the manners of verbs do.
int verbs_error(int error);
/// errno is `error` afterwards; gives -1.
int plain_error(int error);

}  // namespace mrclab::mrc

struct mrc_context : mrclab::mrc::Object {
  ibv_context* verbs = nullptr;
  mrclab::mrc::Support support;
  uint32_t api_version = 0;
  mrclab::verbs::Mutex mutex;  ///< of the list
  mrclab::mrc::Object* children = nullptr;
};

struct mrc_comp_channel : mrclab::mrc::Object {
  ibv_comp_channel* verbs = nullptr;
};

struct mrc_cq : mrclab::mrc::Object {
  ibv_cq* verbs = nullptr;  ///< null: events of entropy values
  uint32_t events = 0;      ///< the host's handle of those
  void* user = nullptr;
  int entries = 0;
  mrclab::verbs::Mutex mutex;  ///< events of entropy values: one poller at a time
};

struct mrc_qp_hint : mrclab::mrc::Object {
  mrclab::mrc::HintAttr attr{};
  std::atomic<uint32_t> users{0};
};

struct mrc_qp : mrclab::mrc::Object {
  ibv_qp* verbs = nullptr;
  mrclab::mrc::QpInitAttr init{};
  mrclab::verbs::Mutex mutex;  ///< of `attr`
  mrclab::mrc::QpAttr attr{};
};

namespace mrclab::mrc {

template <typename T>
constexpr Kind kKindOf = Kind{};
template <>
inline constexpr Kind kKindOf<mrc_context> = Kind::kContext;
template <>
inline constexpr Kind kKindOf<mrc_comp_channel> = Kind::kChannel;
template <>
inline constexpr Kind kKindOf<mrc_cq> = Kind::kCq;
template <>
inline constexpr Kind kKindOf<mrc_qp_hint> = Kind::kHint;
template <>
inline constexpr Kind kKindOf<mrc_qp> = Kind::kQp;

/// Is `object` a live one of its type?
template <typename T>
bool valid(const T* object) {
  return object != nullptr && object->kind.load() == static_cast<uint32_t>(kKindOf<T>);
}

/// A new object of `context`, at the end of its list; null and ENOMEM.
template <typename T>
T* make(mrc_context* context);
/// Destroys a queue of events of entropy values at the host. 0 or an errno.
int destroy_events(mrc_cq* cq);

/// Takes it from its context's list and frees it.
void forget(mrc_comp_channel* object);
void forget(mrc_cq* object);
void forget(mrc_qp_hint* object);
void forget(mrc_qp* object);

}  // namespace mrclab::mrc
