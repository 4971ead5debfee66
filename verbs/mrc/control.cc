#include "verbs/mrc/control.h"

#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

using namespace mrclab::mrc;
namespace verbs = mrclab::verbs;

namespace mrclab::mrc {

namespace {

bool has_net_admin() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return false;
  return (data[CAP_NET_ADMIN / 32].effective >> (CAP_NET_ADMIN % 32) & 1u) != 0;
}

}  // namespace

int check_controller(const mrc_context* context) {
  if (!valid(context)) return EINVAL;
  return has_net_admin() ? 0 : EPERM;
}

int modify_profile(mrc_context& context, const verbs::ProfileWire& wire) {
  ProfileMessage request{};
  request.profile = wire;
  struct {
    verbs::ReplyHeader header;
  } answer{};
  return call(context.support, verbs::Op::kModifyProfile, request, answer);
}

int query_profile(mrc_context& context, verbs::ProfileWire& wire) {
  ProfileMessage request{};
  request.profile = wire;
  ProfileAnswer answer{};
  const int error = call(context.support, verbs::Op::kQueryProfile, request, answer);
  if (error != 0) return error;
  // The host is of our build, but counts become lengths here.
  if (answer.profile.entry_count > verbs::kMaxEvEntries ||
      answer.profile.field_count > verbs::kMaxEvFields) {
    return EPROTO;
  }
  wire = answer.profile;
  return 0;
}

uint8_t port_of(uint32_t ev) { return ev == 0 ? 0 : static_cast<uint8_t>((ev >> 16 & 0xFF) + 1); }

int value_of(const Ev& ev, uint32_t& value) {
  std::memcpy(&value, ev.value, sizeof value);
  const bool longer = std::any_of(ev.value + sizeof value, ev.value + kEvBytes,
                                  [](uint8_t byte) { return byte != 0; });
  return longer || (ev.port != 0 && ev.port != port_of(value)) ? EINVAL : 0;
}

Ev ev_of(uint32_t value) {
  Ev ev{};
  std::memcpy(ev.value, &value, sizeof value);
  ev.port = port_of(value);
  return ev;
}

}  // namespace mrclab::mrc

namespace {

const char* const kAlgorithms[] = {"uet-1.0-nscc", nullptr};

int query_control_device(ibv_context* context, ControlDeviceAttr* attr, int* supported) {
  if (context == nullptr || attr == nullptr) return plain_error(EINVAL);
  *attr = {};
  attr->cc.algorithms = const_cast<const char**>(kAlgorithms + 1);
  if (supported != nullptr) *supported = 0;
  Support support;
  if (!find_support(context, support) || support.hello->transport != 0) {
    return supported != nullptr ? 0 : plain_error(EOPNOTSUPP);
  }
  struct {
    verbs::RequestHeader header;
  } request{};
  struct {
    verbs::ReplyHeader header;
    verbs::ControlReply control;
  } answer{};
  if (const int error = call(support, verbs::Op::kQueryControl, request, answer)) {
    return plain_error(error);
  }
  const verbs::ControlReply& control = answer.control;
  if (supported != nullptr) *supported = 1;
  attr->protocol_versions = kProtocolVersion1;
  attr->ev.max_format_profiles = control.max_format_profiles;
  attr->ev.max_profiles = control.max_profiles;
  attr->ev.max_count = control.max_count;
  attr->ev.free_count = control.free_count;
  attr->ev.max_count_profile = control.max_count_profile;
  attr->ev.count_align = 1;
  attr->ev.max_width = 32;
  attr->ev.format_modes = control.format_modes;
  attr->ev.modes = control.modes;
  attr->ev.max_op_entries = verbs::kMaxEvEntries;
  attr->cc.max_profiles = control.max_cc_profiles;
  attr->cc.algorithms = const_cast<const char**>(kAlgorithms);
  const uint32_t ports = support.hello->ports;
  attr->port_mask = (ports < 31 ? 1u << (ports + 1) : 0u) - 2u;
  attr->optional = kHasEvEvents | kPreciseDropCount | kCanProbe;
  return 0;
}

/// 0 for a port that the device has.
int check_port(const mrc_context* context, uint8_t port, const void* attr, int mask) {
  if (const int error = check_controller(context)) return error;
  const bool there = port >= 1 && port <= context->support.hello->ports;
  return there && attr != nullptr && (mask & ~static_cast<int>(kPortAdminState)) == 0 ? 0 : EINVAL;
}

}  // namespace

int mrc_ctl_query_device(ibv_context* context, ControlDeviceAttr* attr) {
  return query_control_device(context, attr, nullptr);
}

int mrc_ctl_query_device_ex(ibv_context* context, mrc_context* mrc, ControlDeviceAttr* attr,
                            int* supported) {
  if (supported == nullptr || (mrc != nullptr && (!valid(mrc) || mrc->verbs != context))) {
    return plain_error(EINVAL);
  }
  return query_control_device(context, attr, supported);
}

void mrc_ctl_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor,
                           uint32_t* oldest_vendor) {
  mrc_query_version(current, oldest, vendor, oldest_vendor);  // Both are 1.0.1.
}

int mrc_ctl_query_port(mrc_context* context, uint8_t port, PortAttr* attr, int mask) {
  if (const int error = check_port(context, port, attr, mask)) return plain_error(error);
  if (mask != 0) attr->admin_state = 1;
  return 0;
}

int mrc_ctl_modify_port(mrc_context* context, uint8_t port, PortAttr* attr, int mask) {
  if (const int error = check_port(context, port, attr, mask)) return plain_error(error);
  // A port of a lab goes down by a fault (`link_down`), which the recording and the verdict then have, too.
  if (mask != 0 && attr->admin_state != 1) return plain_error(EOPNOTSUPP);
  return 0;
}
