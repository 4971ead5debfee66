#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "netio/kernel/link.h"

namespace mrclab::netio {
namespace {

/// By the kernel's names (net/ethtool/common.c): TSO of all kinds, GSO, GRO and transmit checksums of all kinds.
bool to_be_off(std::string_view feature) {
  return feature.starts_with("tx-tcp") || feature == "tx-generic-segmentation" ||
         feature == "rx-gro" || feature.starts_with("tx-checksum-");
}

/// A call of the ethtool interface; `command` begins with its number and is filled with the answer.
int call_ethtool(const FileDescriptor& socket, const std::string& interface,
                 std::vector<uint32_t>& command) {
  if (interface.size() >= IFNAMSIZ) throw SystemError("find interface " + interface, ENODEV);
  ifreq request{};
  std::memcpy(request.ifr_name, interface.c_str(), interface.size());
  request.ifr_data = reinterpret_cast<char*>(command.data());
  return ::ioctl(socket.get(), SIOCETHTOOL, &request);
}

/// A call that switches them off, all at once (struct ethtool_sfeatures): each call is one report of the kernel.
std::vector<uint32_t> switch_off_call(const FileDescriptor& socket, const std::string& interface) {
  constexpr uint64_t kFeatureNames = uint64_t{1} << ETH_SS_FEATURES;
  constexpr size_t kWordBits = 32, kHead = 2;
  // struct ethtool_sset_info: command, reserved, mask of the sets (two words), their sizes.
  std::vector<uint32_t> size{ETHTOOL_GSSET_INFO, 0, uint32_t{kFeatureNames}, 0, 0};
  check_system_call("count the features of " + interface, call_ethtool(socket, interface, size));
  const size_t count = size.back();
  // struct ethtool_gstrings: command, set, number of strings, strings.
  std::vector<uint32_t> names(3 + count * ETH_GSTRING_LEN / sizeof(uint32_t));
  names[0] = ETHTOOL_GSTRINGS, names[1] = ETH_SS_FEATURES, names[2] = size.back();
  check_system_call("name the features of " + interface, call_ethtool(socket, interface, names));
  const size_t blocks = (count + kWordBits - 1) / kWordBits;
  std::vector<uint32_t> call(kHead +
                             2 * blocks);  // each block: which are meant, which of them are on
  call[0] = ETHTOOL_SFEATURES, call[1] = static_cast<uint32_t>(blocks);
  for (size_t i = 0; i < count; ++i) {
    const char* name = reinterpret_cast<const char*>(&names[3]) + i * ETH_GSTRING_LEN;
    if (!to_be_off({name, ::strnlen(name, ETH_GSTRING_LEN)})) continue;
    call[kHead + 2 * (i / kWordBits)] |= uint32_t{1} << i % kWordBits;
  }
  return call;
}

}  // namespace

void disable_offloads(const NetworkNamespace& ns, std::span<const std::string> interfaces) {
  if (interfaces.empty()) return;
  const FileDescriptor socket(check_system_call("open a socket in " + ns.name(), ns.run_in([] {
    return ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  })));
  const std::vector<uint32_t> call = switch_off_call(socket, interfaces.front());
  for (const std::string& name : interfaces) {
    std::vector<uint32_t> own = call;
    const std::string attempted = "switch off the offloads of " + name + " in " + ns.name();
    const int result = check_system_call(attempted, call_ethtool(socket, name, own));
    if (result & ETHTOOL_F_WISH) throw SystemError(attempted, EOPNOTSUPP);
  }
}

}  // namespace mrclab::netio
