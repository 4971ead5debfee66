#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>

#include "netio/kernel/link.h"

namespace mrclab::netio {
namespace {

struct Feature {
  uint32_t command;
  const char* name;
};
// Segmentation first: it depends on checksums.
constexpr Feature kFeatures[] = {{ETHTOOL_STSO, "TSO"},
                                 {ETHTOOL_SGSO, "GSO"},
                                 {ETHTOOL_SGRO, "GRO"},
                                 {ETHTOOL_STXCSUM, "transmit checksum offload"}};

}  // namespace

void disable_offloads(const NetworkNamespace& ns, std::span<const std::string> interfaces) {
  const FileDescriptor socket(check_system_call("open a socket in " + ns.name(), ns.run_in([] {
    return ::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  })));
  for (const std::string& name : interfaces) {
    if (name.size() >= IFNAMSIZ) throw SystemError("find interface " + name, ENODEV);
    for (const Feature& feature : kFeatures) {
      ethtool_value value{feature.command, 0};
      ifreq request{};
      std::memcpy(request.ifr_name, name.c_str(), name.size());
      request.ifr_data = reinterpret_cast<char*>(&value);
      check_system_call(
          std::string("switch off ") + feature.name + " of " + name + " in " + ns.name(),
          ::ioctl(socket.get(), SIOCETHTOOL, &request));
    }
  }
}

}  // namespace mrclab::netio
