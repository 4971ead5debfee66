#include "netio/kernel/installed_addresses.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <array>
#include <optional>

#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

std::optional<InstalledAddress> read_address(const nlmsghdr& message) {
  std::array<nlattr*, IFA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWADDR ||
      nlmsg_parse(const_cast<nlmsghdr*>(&message), sizeof(ifaddrmsg), attributes.data(), IFA_MAX,
                  nullptr) < 0) {
    return std::nullopt;
  }
  const auto* header = static_cast<const ifaddrmsg*>(nlmsg_data(&message));
  // For IPv4 IFA_ADDRESS is that of the other end where there is one.
  const nlattr* own = attributes[IFA_LOCAL] ? attributes[IFA_LOCAL] : attributes[IFA_ADDRESS];
  const int length = header->ifa_family == AF_INET ? 4 : 16;
  if (own == nullptr || nla_len(own) != length) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(header->ifa_family, nla_data(own), text.data(), text.size());
  return InstalledAddress{header->ifa_index,
                          std::string(text.data()) + "/" + std::to_string(header->ifa_prefixlen)};
}

}  // namespace

std::set<InstalledAddress> installed_addresses(NamespaceNetlink& netlink) {
  NlMessage request = make_message(RTM_GETADDR, NLM_F_DUMP);
  const ifaddrmsg header{};  // of all families
  nlmsg_append(request.get(), const_cast<ifaddrmsg*>(&header), sizeof header, NLMSG_ALIGNTO);
  std::set<InstalledAddress> addresses;
  netlink.socket().dump(std::move(request), "list the addresses of " + netlink.namespace_name(),
                        [&](const nlmsghdr& answer) {
                          if (auto address = read_address(answer)) addresses.insert(*address);
                        });
  return addresses;
}

}  // namespace mrclab::netio
