#pragma once
// The C ABI of libmrc, version 1.0.1 (mrc.h of the Open Compute Project's MRC API), declared in our own words: names of
// functions and layouts of structs are what a compiled program fixes, and the assertions hold them to the published
// header's on x86-64 and AArch64. No struct's size is passed to any function, so an older caller's shorter struct cannot
// be noticed: mrc_query_device and mrc_query_version write no more than version 1.0.0 had.
//
// Errors: a function that gives a pointer gives null and sets errno. Of those that give an int, the ones with the
// manners of verbs return an errno and set it, too; the others return -1 and set errno. Which is which stands at each.

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#define MRCLAB_MRC_API extern "C" __attribute__((visibility("default")))

// Handles: what is behind them is libmrc's (objects.h). The names are those of the API, without namespace in C.
struct mrc_context;
struct mrc_comp_channel;
struct mrc_cq;
struct mrc_qp_hint;
struct mrc_qp;

namespace mrclab::mrc {

constexpr uint32_t version_of(uint32_t major, uint32_t minor, uint32_t sub) {
  return major << 24 | minor << 16 | sub;
}
inline constexpr uint32_t kApiVersion = version_of(1, 0, 1);
inline constexpr uint32_t kOldestApiVersion = version_of(0, 0, 0);
inline constexpr uint32_t kVendorVersion = version_of(1, 0, 0);
inline constexpr uint32_t kOldestVendorVersion = version_of(0, 0, 0);
inline constexpr size_t kVendorBytes = 128;
inline constexpr uint32_t kProtocolVersion1 = 1;

/// Bits of DeviceAttr::cap.
enum DeviceCap : uint32_t { kCapTrimNack = 1, kCapDynamicMpr = 2, kCapServiceTime = 4 };
/// Bits of QpAttr::cap.
enum QpCap : uint32_t { kNoTrimNackThere = 1, kDynamicMpr = 2, kNoServiceTimeThere = 4 };

/// Bits of a mask of queue pair attributes.
enum QpAttrMask : uint32_t {
  kMaskMaxWimm = 1u << 0,
  kMaskMaxWimmDest = 1u << 1,
  kMaskMpr = 1u << 2,
  kMaskMprDest = 1u << 3,
  kMaskTimeout = 1u << 4,
  kMaskEvProfile = 1u << 5,
  kMaskCcProfile = 1u << 6,
  kMaskHint = 1u << 7,
  kMaskRetry = 1u << 8,
  kMaskCap = 1u << 9,
  kMaskVendor = 1u << 31,
};
/// Bits of a mask of hint attributes.
enum HintMask : uint32_t {
  kHintQpsPerPeer = 1u << 0,
  kHintSendPeers = 1u << 1,
  kHintReceivePeers = 1u << 2,
  kHintVendor = 1u << 31,
};

struct DeviceAttr {
  uint32_t protocol_versions;  ///< bit map
  uint16_t max_wimm, max_wimm_dest;
  uint8_t max_mpr, mpr_resolution;  ///< units of 128 PSNs
  uint32_t max_qp_hint;
  uint32_t cap;
};
static_assert(sizeof(DeviceAttr) == 20 && offsetof(DeviceAttr, max_wimm) == 4);
static_assert(offsetof(DeviceAttr, max_mpr) == 8 && offsetof(DeviceAttr, max_qp_hint) == 12);
static_assert(offsetof(DeviceAttr, cap) == 16);

struct ContextAttr {
  uint32_t api_version, vendor_version;  ///< 0: any
};
static_assert(sizeof(ContextAttr) == 8);

struct HintAttr {
  int qps_per_peer, send_peers, remote_receive_peers;
  uint8_t vendor[kVendorBytes];
};
static_assert(sizeof(HintAttr) == 140);

struct QpInitAttr {
  void* user;
  mrc_cq* send_cq;
  mrc_cq* recv_cq;
  ibv_qp_cap cap;
  int sq_sig_all;
  ibv_pd* pd;
  uint64_t send_ops_flags;
  uint32_t protocol_version;
};
static_assert(sizeof(QpInitAttr) == 72 && offsetof(QpInitAttr, cap) == 24);
static_assert(offsetof(QpInitAttr, sq_sig_all) == 44 && offsetof(QpInitAttr, pd) == 48);
static_assert(offsetof(QpInitAttr, protocol_version) == 64);

struct QpAttr {
  uint8_t mpr, mpr_dest;  ///< units of 128 PSNs
  uint16_t max_wimm, max_wimm_dest;
  uint8_t timeout;  ///< 1.024 us x 2^timeout, at most 24
  uint64_t ev_profile, cc_profile;
  uint8_t linear_retries;       ///< at most 7
  uint8_t exponential_retries;  ///< at most 25, which means for ever
  mrc_qp_hint* hint;            ///< may be null
  uint32_t cap;
  uint8_t vendor[kVendorBytes];
};
static_assert(sizeof(QpAttr) == 176 && offsetof(QpAttr, max_wimm) == 2);
static_assert(offsetof(QpAttr, timeout) == 6 && offsetof(QpAttr, ev_profile) == 8);
static_assert(offsetof(QpAttr, linear_retries) == 24 && offsetof(QpAttr, hint) == 32);
static_assert(offsetof(QpAttr, cap) == 40 && offsetof(QpAttr, vendor) == 44);

struct AsyncEvent {
  union {
    mrc_cq* cq;
    mrc_qp* qp;
    int port;
  };
  ibv_event_type type;
};
static_assert(sizeof(AsyncEvent) == 16 && offsetof(AsyncEvent, type) == 8);

}  // namespace mrclab::mrc

// Device. `supported` is set to 0 where the device has no MRC. 0, or -1 and errno.
MRCLAB_MRC_API int mrc_query_device(ibv_context*, mrclab::mrc::DeviceAttr*, int* supported);
MRCLAB_MRC_API int mrc_query_device_ex(ibv_context*, mrc_context*, mrclab::mrc::DeviceAttr*,
                                       int* supported);
MRCLAB_MRC_API void mrc_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor,
                                      uint32_t* oldest_vendor);
// Context: parent of all that follows; destroying it destroys what is left of them. -1 and errno.
MRCLAB_MRC_API mrc_context* mrc_create_context(ibv_context*, mrclab::mrc::ContextAttr*);
MRCLAB_MRC_API int mrc_destroy_context(mrc_context*);
// Completions, with the manners of verbs but for get_comp_channel_fd (-1 and errno).
MRCLAB_MRC_API int mrc_create_comp_channel(mrc_context*, mrc_comp_channel**);
MRCLAB_MRC_API int mrc_get_comp_channel_fd(mrc_comp_channel*, int* fd);
MRCLAB_MRC_API int mrc_destroy_comp_channel(mrc_comp_channel*);
MRCLAB_MRC_API mrc_cq* mrc_create_cq(mrc_context*, int cqe, void* user, mrc_comp_channel*,
                                     int vector);
MRCLAB_MRC_API int mrc_poll_cq(mrc_cq*, int entries, ibv_wc*);
MRCLAB_MRC_API int mrc_destroy_cq(mrc_cq*);
MRCLAB_MRC_API int mrc_req_notify_cq(mrc_cq*, int solicited_only);
MRCLAB_MRC_API int mrc_get_cq_event(mrc_comp_channel*, mrc_cq**, void** user);
MRCLAB_MRC_API void mrc_ack_cq_events(mrc_cq*, unsigned events);
// Hints: -1 and errno; EBUSY while a queue pair has it.
MRCLAB_MRC_API mrc_qp_hint* mrc_create_qp_hint(mrc_context*, mrclab::mrc::HintAttr*);
MRCLAB_MRC_API int mrc_destroy_qp_hint(mrc_qp_hint*);
MRCLAB_MRC_API int mrc_query_qp_hint(mrc_qp_hint*, mrclab::mrc::HintAttr*, int mask);
MRCLAB_MRC_API int mrc_modify_qp_hint(mrc_qp_hint*, mrclab::mrc::HintAttr*, int mask);
// Queue pairs, with the manners of verbs but for get_qpn (-1 and errno).
MRCLAB_MRC_API mrc_qp* mrc_create_qp(mrc_context*, mrclab::mrc::QpInitAttr*);
MRCLAB_MRC_API int mrc_destroy_qp(mrc_qp*);
MRCLAB_MRC_API int mrc_modify_qp(mrc_qp*, ibv_qp_attr*, int mask, mrclab::mrc::QpAttr*,
                                 int mrc_mask);
MRCLAB_MRC_API int mrc_query_qp(mrc_qp*, ibv_qp_attr*, int mask, mrclab::mrc::QpAttr*, int mrc_mask,
                                mrclab::mrc::QpInitAttr*);
MRCLAB_MRC_API int mrc_get_qpn(mrc_qp*, uint32_t* qpn);
MRCLAB_MRC_API int mrc_post_recv(mrc_qp*, ibv_recv_wr*, ibv_recv_wr** bad);
MRCLAB_MRC_API int mrc_post_send(mrc_qp*, ibv_send_wr*, ibv_send_wr** bad);
// Asynchronous events, with the manners of verbs: get blocks.
MRCLAB_MRC_API int mrc_get_async_event(mrc_context*, mrclab::mrc::AsyncEvent*);
MRCLAB_MRC_API void mrc_ack_async_event(mrclab::mrc::AsyncEvent*);
