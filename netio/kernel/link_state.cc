#include "netio/kernel/link_state.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include <algorithm>

namespace mrclab::netio {
namespace {

constexpr unsigned kLowerUp = 1u << 16;  // IFF_LOWER_UP; linux/if.h cannot stand beside net/if.h

}  // namespace

std::optional<LinkState> parse_link_message(const nlmsghdr& header) {
  if (header.nlmsg_type != RTM_NEWLINK && header.nlmsg_type != RTM_DELLINK) return {};
  if (header.nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) return {};
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(&header));
  nlattr* attributes[IFLA_MAX + 1] = {};
  if (nlmsg_parse(const_cast<nlmsghdr*>(&header), sizeof(ifinfomsg), attributes, IFLA_MAX,
                  nullptr) < 0)
    return {};
  LinkState state;
  state.ifindex = static_cast<uint32_t>(info->ifi_index);
  state.admin_up = (info->ifi_flags & IFF_UP) != 0;
  state.carrier = (info->ifi_flags & kLowerUp) != 0;
  if (attributes[IFLA_IFNAME]) state.name = nla_get_string(attributes[IFLA_IFNAME]);
  if (attributes[IFLA_MTU]) state.mtu = nla_get_u32(attributes[IFLA_MTU]);
  if (attributes[IFLA_MASTER]) state.master = nla_get_u32(attributes[IFLA_MASTER]);
  if (attributes[IFLA_PROMISCUITY]) {
    state.promiscuity = nla_get_u32(attributes[IFLA_PROMISCUITY]);
  }
  nlattr* xdp[IFLA_XDP_MAX + 1] = {};
  if (attributes[IFLA_XDP] &&
      nla_parse_nested(xdp, IFLA_XDP_MAX, attributes[IFLA_XDP], nullptr) >= 0 &&
      xdp[IFLA_XDP_PROG_ID]) {
    state.xdp = nla_get_u32(xdp[IFLA_XDP_PROG_ID]);
  }
  if (const nlattr* mac = attributes[IFLA_ADDRESS];
      mac && static_cast<size_t>(nla_len(mac)) == state.mac.size())
    std::copy_n(static_cast<const uint8_t*>(nla_data(mac)), state.mac.size(), state.mac.begin());
  return state;
}

}  // namespace mrclab::netio
