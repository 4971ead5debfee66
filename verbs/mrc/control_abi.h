#pragma once
// The C ABI of libmrc's controller side, version 1.0.1 (mrc_ctl.h of the Open Compute Project's MRC API), in our own
// words; see abi.h. Its callers need CAP_NET_ADMIN. All functions but mrc_ctl_poll_ev_event return 0, or -1 and errno.

#include "verbs/mrc/abi.h"

namespace mrclab::mrc {

inline constexpr size_t kEvBytes = 32;

enum ProfileState : uint32_t { kInit, kOffline, kOnline };

/// Bits of ControlDeviceAttr::optional.
enum ControlOption : uint32_t {
  kCanModifyOnlineEvProfile = 1,
  kCanModifyOnlineCcProfile = 2,
  kHasEvEvents = 4,
  kExplicitRangesOnly = 8,
  kPreciseDropCount = 16,
  kCanProbe = 32,
};

struct ControlDeviceAttr {
  uint32_t protocol_versions;
  struct {
    uint32_t max_format_profiles, max_profiles;
    uint32_t max_count, free_count;  ///< entropy values of all profiles
    uint32_t max_count_profile, count_align;
    uint32_t max_width;  ///< bits of a value
    uint32_t format_modes, modes;
    uint32_t max_op_entries;
  } ev;
  struct {
    uint32_t max_profiles;
    const char** algorithms;  ///< ends with null; the library's
  } cc;
  uint32_t port_mask;  ///< bit N: port N, from 1
  uint32_t optional;
};
static_assert(sizeof(ControlDeviceAttr) == 72 && offsetof(ControlDeviceAttr, cc) == 48);
static_assert(offsetof(ControlDeviceAttr, port_mask) == 64);

enum PortMask : uint32_t { kPortAdminState = 1 };
struct PortAttr {
  uint32_t admin_state;  ///< 1: enabled
};
static_assert(sizeof(PortAttr) == 4);

enum FormatMode : uint32_t { kFormatStev = 1, kFormatSrv6 = 2, kFormatUdp = 4 };
enum FormatOp : uint32_t { kModifyFormatFields, kQueryFormatFields };
enum FormatMask : uint32_t {
  kFormatState = 1u << 0,
  kFormatCurState = 1u << 1,
  kFormatModeBit = 1u << 2,
  kFormatOpBit = 1u << 3,
  kFormatVendor = 1u << 31,
};
struct FormatField {
  uint8_t width;  ///< bits
};
struct FormatProfileAttr {
  uint32_t state, cur_state;
  uint32_t mode;
  struct {
    uint32_t op;
    FormatField* fields;
    int count;  ///< of the array: in and out
  } op;
  uint8_t vendor[kVendorBytes];
};
static_assert(sizeof(FormatProfileAttr) == 168 && offsetof(FormatProfileAttr, op) == 16);
static_assert(offsetof(FormatProfileAttr, vendor) == 40);

/// Of SRv6, 16 bytes of address and 16 of a routing header's one segment; of others the first 4.
struct Ev {
  uint8_t value[kEvBytes];
  uint8_t port;  ///< from 1
};
static_assert(sizeof(Ev) == 33);

enum EvStateBit : uint32_t {
  kEvGood = 1u << 0,
  kEvAssumedBad = 1u << 1,
  kEvDenied = 1u << 2,
  kEvUnknown = 1u << 31,
};
enum EvMode : uint32_t { kAuto = 1, kExplicit = 2, kGenerated = 4 };
enum EvOp : uint32_t { kReplaceEv, kModifyEvState, kQueryEvState, kQueryEvArray };
enum EvFieldsOp : uint32_t { kModifyFields, kQueryFields };
enum EvProfileMask : uint32_t {
  kProfileState = 1u << 0,
  kProfileCurState = 1u << 1,
  kProfileMode = 1u << 2,
  kProfileFormat = 1u << 3,
  kProfileCount = 1u << 4,
  kProfileMinActive = 1u << 5,
  kProfileEventMask = 1u << 6,
  kProfileEvOp = 1u << 7,
  kProfileFieldsOp = 1u << 8,
  kProfileVendor = 1u << 31,
};
struct EvFieldAttr {
  uint32_t width, init_val, min_val, max_val, mask;
};
static_assert(sizeof(EvFieldAttr) == 20);
inline constexpr uint32_t kAllCopies = 1;  ///< EvEntry::flags, of kReplaceEv
struct EvEntry {
  Ev ev, replacement;
  uint32_t state, flags;
};
static_assert(sizeof(EvEntry) == 76 && offsetof(EvEntry, state) == 68);
struct EvProfileAttr {
  uint32_t state, cur_state;
  uint32_t mode;
  uint64_t format_id;
  uint32_t count;
  uint32_t min_active;
  int event_mask;
  struct {
    uint32_t op;
    EvEntry* entries;
    int count;
  } ev_op;
  struct {
    uint32_t op;
    EvFieldAttr* fields;
    int count;
  } fields_op;
  uint8_t vendor[kVendorBytes];
};
static_assert(sizeof(EvProfileAttr) == 216 && offsetof(EvProfileAttr, format_id) == 16);
static_assert(offsetof(EvProfileAttr, event_mask) == 32 && offsetof(EvProfileAttr, ev_op) == 40);
static_assert(offsetof(EvProfileAttr, fields_op) == 64 && offsetof(EvProfileAttr, vendor) == 88);

enum CcMask : uint32_t {
  kCcState = 1u << 0,
  kCcCurState = 1u << 1,
  kCcAlgorithm = 1u << 2,
  kCcConfig = 1u << 3,
  kCcVendor = 1u << 31,
};
struct CcProfileAttr {
  uint32_t state, cur_state;
  const char* algorithm;  ///< one of ControlDeviceAttr::cc.algorithms; null: none
  const void* config;     ///< NsccConfig
  uint8_t vendor[kVendorBytes];
};
static_assert(sizeof(CcProfileAttr) == 152 && offsetof(CcProfileAttr, vendor) == 24);
struct NsccConfig {
  uint8_t disable_qa;
  uint32_t adjust_bytes_threshold, adjust_period_ns, base_rtt_ns;
  float eta, fi, fi_scale, gamma, max_md_jump;
  uint32_t max_cwnd_bytes;
  uint8_t qa_gate;
  uint32_t qa_threshold_ns, target_delay_ns;
};
static_assert(sizeof(NsccConfig) == 52 && offsetof(NsccConfig, max_cwnd_bytes) == 36);

struct EvEventAttr {
  uint64_t profile;
  Ev ev;
  uint32_t drop_count;
  uint32_t state;  ///< since 1.0.1
};
static_assert(sizeof(EvEventAttr) == 56 && offsetof(EvEventAttr, drop_count) == 44);

enum EndpointOp : uint32_t { kEvProbe, kPortStatusUpdate };
struct EndpointRequest {
  uint16_t id;
  ibv_gid source, destination;
  uint32_t format;
  Ev ev;
  uint32_t port_status;
};
static_assert(sizeof(EndpointRequest) == 88 && offsetof(EndpointRequest, source) == 8);
static_assert(offsetof(EndpointRequest, ev) == 44 && offsetof(EndpointRequest, port_status) == 80);
struct EndpointResponse {
  uint16_t id;
  uint8_t port;  ///< from 1
  uint32_t rtt_ns;
  uint8_t less_service_time;
};
static_assert(sizeof(EndpointResponse) == 12 && offsetof(EndpointResponse, rtt_ns) == 4);

}  // namespace mrclab::mrc

// Version 1.0.1's header declares mrc_ctl_query_device with two arguments.
MRCLAB_MRC_API int mrc_ctl_query_device(ibv_context*, mrclab::mrc::ControlDeviceAttr*);
MRCLAB_MRC_API int mrc_ctl_query_device_ex(ibv_context*, mrc_context*,
                                           mrclab::mrc::ControlDeviceAttr*, int* supported);
MRCLAB_MRC_API void mrc_ctl_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor,
                                          uint32_t* oldest_vendor);
MRCLAB_MRC_API int mrc_ctl_query_port(mrc_context*, uint8_t port, mrclab::mrc::PortAttr*, int mask);
MRCLAB_MRC_API int mrc_ctl_modify_port(mrc_context*, uint8_t port, mrclab::mrc::PortAttr*,
                                       int mask);
MRCLAB_MRC_API int mrc_ctl_query_ev_fmt_profile(mrc_context*, uint64_t id,
                                                mrclab::mrc::FormatProfileAttr*, int mask);
MRCLAB_MRC_API int mrc_ctl_modify_ev_fmt_profile(mrc_context*, uint64_t id,
                                                 mrclab::mrc::FormatProfileAttr*, int mask);
MRCLAB_MRC_API int mrc_ctl_query_ev_profile(mrc_context*, uint64_t id, mrclab::mrc::EvProfileAttr*,
                                            int mask);
MRCLAB_MRC_API int mrc_ctl_modify_ev_profile(mrc_context*, uint64_t id, mrclab::mrc::EvProfileAttr*,
                                             int mask);
MRCLAB_MRC_API int mrc_ctl_query_cc_profile(mrc_context*, uint64_t id, mrclab::mrc::CcProfileAttr*,
                                            int mask);
MRCLAB_MRC_API int mrc_ctl_modify_cc_profile(mrc_context*, uint64_t id, mrclab::mrc::CcProfileAttr*,
                                             int mask);
MRCLAB_MRC_API mrc_cq* mrc_ctl_create_ev_event_cq(mrc_context*, int cqe, void* user,
                                                  mrc_comp_channel*, int vector);
// The number of events, or a negative errno.
MRCLAB_MRC_API int mrc_ctl_poll_ev_event(mrc_cq*, int entries, mrclab::mrc::EvEventAttr*);
MRCLAB_MRC_API int mrc_ctl_ep_batch_send_wait(mrc_context*, uint8_t traffic_class, uint32_t op,
                                              mrclab::mrc::EndpointRequest*, int requests,
                                              uint32_t timeout_ns, mrclab::mrc::EndpointResponse*,
                                              int* responses);
