// What a program can ask about the device, its port and its addresses.

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "verbs/client/operations.h"

namespace mrclab::verbs {
namespace {

/// Not one of perftest's table, which would choose ibv_wr_* or inline sizes by it; and not the number of a vendor.
constexpr uint32_t kVendor = 0x4D5243;  // "MRC"
constexpr uint32_t kPart = 1;

int positive(uint32_t value) { return static_cast<int>(value < INT32_MAX ? value : INT32_MAX); }

ibv_device_attr device_attributes() {
  const HelloReply& hello = *link_data().hello;
  ibv_device_attr at{};
  snprintf(at.fw_ver, sizeof(at.fw_ver), "mrclab");
  at.node_guid = htobe64(hello.node_guid);
  at.sys_image_guid = at.node_guid;
  at.max_mr_size = UINT64_MAX;
  at.page_size_cap = 0xFFFFF000;
  at.vendor_id = kVendor;
  at.vendor_part_id = kPart;
  at.max_qp = positive(hello.max_qp);
  at.max_qp_wr = positive(hello.max_wr);
  at.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_PORT_ACTIVE_EVENT |
                        IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN;
  at.max_sge = positive(hello.max_sge);
  const bool reads = (hello.capabilities & kCanRead) != 0;
  const bool atomics = (hello.capabilities & kCanAtomic) != 0;
  at.max_sge_rd = reads ? at.max_sge : 0;
  at.max_cq = positive(hello.max_cq);
  at.max_cqe = positive(hello.max_cqe);
  at.max_mr = positive(hello.max_mr);
  at.max_pd = kMaxPds;
  at.max_ah = kMaxAhs;
  // As many as the field of a queue pair's attributes that the device keeps its promise for (IBTA: 8 bits).
  at.max_qp_rd_atom = reads || atomics ? 16 : 0;
  at.max_qp_init_rd_atom = at.max_qp_rd_atom;
  at.max_res_rd_atom = at.max_qp_rd_atom * at.max_qp;
  at.atomic_cap = atomics ? IBV_ATOMIC_HCA : IBV_ATOMIC_NONE;
  const bool shared = (hello.capabilities & kCanSrq) != 0;
  at.max_srq = shared ? positive(hello.max_srq) : 0;
  at.max_srq_wr = shared ? at.max_qp_wr : 0;
  at.max_srq_sge = shared ? at.max_sge : 0;
  at.max_pkeys = 1;
  at.phys_port_cnt = 1;
  return at;
}

struct Lanes {
  uint8_t code;
  uint32_t factor;
};
/// IBTA 14.2.5.6 (LinkWidthActive) and the speeds of a lane in Mb/s (LinkSpeedActive, LinkSpeedExtActive, HDR, NDR).
constexpr Lanes kWidths[] = {{1, 1}, {2, 4}, {4, 8}, {8, 12}, {16, 2}};
constexpr Lanes kSpeeds[] = {{1, 2'500},   {2, 5'000},   {4, 10'000},   {16, 14'000},
                             {32, 25'000}, {64, 50'000}, {128, 100'000}};

/// Those whose product is nearest to the rate of all planes, the planes being lanes where there is such a width.
void describe_rate(const HelloReply& hello, ibv_port_attr& at) {
  const uint64_t rate_mbps = hello.rate_bps / 1'000'000;
  uint64_t best = UINT64_MAX;
  for (const Lanes& width : kWidths) {
    for (const Lanes& speed : kSpeeds) {
      const uint64_t product = static_cast<uint64_t>(width.factor) * speed.factor;
      const uint64_t off = 2 * (product > rate_mbps ? product - rate_mbps : rate_mbps - product) +
                           (width.factor == hello.ports ? 0 : 1);
      if (off < best) {
        best = off;
        at.active_width = width.code;
        at.active_speed = speed.code;
      }
    }
  }
}

ibv_mtu mtu_code(uint32_t bytes) {
  return bytes >= 4096   ? IBV_MTU_4096
         : bytes >= 2048 ? IBV_MTU_2048
         : bytes >= 1024 ? IBV_MTU_1024
         : bytes >= 512  ? IBV_MTU_512
                         : IBV_MTU_256;
}

int ask_port(PortReply& reply) {
  return ask_raw(Op::kQueryPort, nullptr, 0, &reply, sizeof(reply), nullptr);
}

bool is_zero(const ibv_gid& gid) {
  return gid.global.subnet_prefix == 0 && gid.global.interface_id == 0;
}

/// An entry of the table of GIDs: the host's inner address, or zeroes where the table has it no more.
int read_gid(uint32_t port, int64_t index, ibv_gid& gid) {
  if (port != 1 || index < 0 || index >= static_cast<int64_t>(kGidTable)) {
    return EINVAL;
  }
  PortReply reply{};
  const int error = ask_port(reply);
  if (error == 0) {
    memset(&gid, 0, sizeof(gid));
    if ((reply.gids >> index & 1) != 0) {
      memcpy(gid.raw, link_data().hello->gid, sizeof(gid.raw));
    }
  }
  return error;
}

}  // namespace

int query_device_ex(ibv_context*, const ibv_query_device_ex_input*, ibv_device_attr_ex* attributes,
                    size_t bytes) {
  if (bytes < sizeof(ibv_device_attr)) {
    return failed(EINVAL);
  }
  ibv_device_attr_ex at{};
  at.orig_attr = device_attributes();
  at.completion_timestamp_mask = UINT64_MAX;
  at.hca_core_clock = 1'000'000;  // kHz: time stamps are nanoseconds of fabric time
  at.device_cap_flags_ex = at.orig_attr.device_cap_flags;
  at.phys_port_cnt_ex = 1;
  memset(attributes, 0, bytes);
  memcpy(attributes, &at, bytes < sizeof(at) ? bytes : sizeof(at));
  return 0;
}

int query_port(ibv_context*, uint8_t port, ibv_port_attr* attributes, size_t bytes) {
  if (port != 1) {
    return failed(EINVAL);
  }
  PortReply reply{};
  const int error = ask_port(reply);
  if (error != 0) {
    return failed(error);
  }
  const HelloReply& hello = *link_data().hello;
  ibv_port_attr at{};
  at.state = reply.active != 0 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  at.max_mtu = IBV_MTU_4096;
  at.active_mtu = mtu_code(hello.mtu);
  at.gid_tbl_len = kGidTable;
  at.port_cap_flags = IBV_PORT_IP_BASED_GIDS;
  at.max_msg_sz = kMessageMax;
  at.pkey_tbl_len = 1;
  at.max_vl_num = 1;
  describe_rate(hello, at);
  at.phys_state = reply.active != 0 ? 5 : 3;  // IBTA PortPhysicalState: LinkUp, Disabled
  at.link_layer = IBV_LINK_LAYER_ETHERNET;
  memset(attributes, 0, bytes);
  memcpy(attributes, &at, bytes < sizeof(at) ? bytes : sizeof(at));
  return 0;
}

int query_rt_values(ibv_context*, ibv_values_ex* values) {
  if ((values->comp_mask & ~static_cast<uint32_t>(IBV_VALUES_MASK_RAW_CLOCK)) != 0) {
    return failed(EINVAL);
  }
  const uint64_t ticks = program_link().now_ps() / 1000;  // of hca_core_clock
  values->raw_clock.tv_sec = 0;
  values->raw_clock.tv_nsec = static_cast<long>(ticks);
  return 0;
}

}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

int ibv_query_device(ibv_context*, ibv_device_attr* device_attr) {
  *device_attr = device_attributes();
  return 0;
}

int ibv_query_port(ibv_context* context, uint8_t port_num,
                   struct _compat_ibv_port_attr* port_attr) {
  return query_port(context, port_num, reinterpret_cast<ibv_port_attr*>(port_attr),
                    offsetof(ibv_port_attr, port_cap_flags2));
}

int ibv_query_gid(ibv_context*, uint8_t port_num, int index, union ibv_gid* gid) {
  const int error = read_gid(port_num, index, *gid);
  return error == 0 ? 0 : (errno = error, -1);
}

int _ibv_query_gid_ex(ibv_context*, uint32_t port_num, uint32_t gid_index, ibv_gid_entry* entry,
                      uint32_t flags, size_t entry_size) {
  if (flags != 0 || entry_size < sizeof(ibv_gid_entry)) {
    return failed(flags != 0 ? EOPNOTSUPP : EINVAL);
  }
  ibv_gid_entry own{};
  const int error = read_gid(port_num, gid_index, own.gid);
  if (error != 0 || is_zero(own.gid)) {
    return failed(error != 0 ? error : ENODATA);
  }
  own.gid_index = gid_index;
  own.port_num = port_num;
  own.gid_type = IBV_GID_TYPE_ROCE_V2;
  memcpy(entry, &own, sizeof(own));
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, size_t max_entries,
                             uint32_t flags, size_t entry_size) {
  size_t count = 0;
  for (uint32_t index = 0; index < kGidTable; ++index) {
    ibv_gid_entry entry{};
    const int error = _ibv_query_gid_ex(context, 1, index, &entry, flags, entry_size);
    if (error == ENODATA) {
      continue;
    }
    if (error != 0 || count == max_entries) {
      return -failed(error != 0 ? error : EINVAL);
    }
    memcpy(reinterpret_cast<char*>(entries) + count++ * entry_size, &entry, sizeof(entry));
  }
  return static_cast<ssize_t>(count);
}

/// IBVERBS_PRIVATE_34, what ibv_devinfo calls. 1 is RoCE v2, 0 what sysfs has one word for: IB or RoCE v1.
MRCLAB_EXPORT int ibv_query_gid_type(ibv_context*, uint8_t port_num, unsigned int index,
                                     int* type) {
  ibv_gid gid{};
  const int error = read_gid(port_num, index, gid);
  *type = 1;
  return error == 0 ? 0 : (errno = error, -1);
}

int ibv_query_pkey(ibv_context*, uint8_t port_num, int index, __be16* pkey) {
  if (port_num != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = 0xFFFF;
  return 0;
}

int ibv_get_pkey_index(ibv_context*, uint8_t port_num, __be16 pkey) {
  if (port_num != 1 || pkey != 0xFFFF) {
    errno = EINVAL;
    return -1;
  }
  return 0;
}

MRCLAB_LATEST(ibv_query_device);
MRCLAB_LATEST(ibv_query_gid);
MRCLAB_LATEST(ibv_query_pkey);
MRCLAB_LATEST(ibv_query_port);

}  // extern "C"
