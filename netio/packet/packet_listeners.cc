#include "netio/packet/packet_listeners.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/packet/trailer.h"
#include "fabric/text/words.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

/// A line is some sixty bytes, and a node of ours has seven sockets at most.
constexpr size_t kBytesOfNode = 1024;

uint32_t number(std::string_view word, int base) {
  uint32_t value = UINT32_MAX;  // what is no number is nothing that we know
  std::from_chars(word.data(), word.data() + word.size(), value, base);
  return value;
}

}  // namespace

PacketListeners::PacketListeners(const NetworkNamespace& ns, size_t nodes)
    : nodes_(nodes),
      list_(check_system_call("list the packet sockets of " + ns.name(), ns.run_in([] {
        return ::open("/proc/thread-self/net/packet", O_RDONLY | O_CLOEXEC);
      }))) {}

bool PacketListeners::others() const {
  std::string text((nodes_ + 1) * kBytesOfNode, '\0');
  const ssize_t size = ::pread(list_.get(), text.data(), text.size(), 0);
  if (size < 0 || static_cast<size_t>(size) == text.size()) return true;
  std::string_view rest(text.data(), static_cast<size_t>(size));
  // sk RefCnt Type Proto Iface R Rmem User Inode (net/packet/af_packet.c, packet_seq_show)
  std::array<std::pair<uint32_t, size_t>, 5> ours{{{kEthertypeIpv6, 0},
                                                   {kVoidEthertype, 0},
                                                   {kEthertypeIpv4, 0},
                                                   {kPauseEthertype, 0},
                                                   {kLldpEthertype, 0}}};
  bool header = true;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (std::exchange(header, false)) continue;
    for (int skipped = 0; skipped < 3; ++skipped) take_word(line);
    const uint32_t protocol = number(take_word(line), 16), interface = number(take_word(line), 10);
    if (protocol == 0) continue;
    auto* const known = std::find_if(ours.begin(), ours.end(),
                                     [&](const auto& kind) { return kind.first == protocol; });
    if (interface != 0 || known == ours.end() || ++known->second > nodes_) return true;
  }
  return false;
}

}  // namespace mrclab::netio
