#pragma once
// The names by which a request may call this server. A name that a stranger's DNS leads here (DNS rebinding) is none of
// them: an address is only itself, and names of this machine are not for strangers to give.

#include <cstdint>
#include <string>
#include <string_view>

namespace mrclab::lab {

/// How a browser writes the address and the port, without the port where that is HTTP's own (RFC 9110 section 4.2.3).
/// An IPv6 address stands in brackets.
std::string host_text(std::string_view name, uint16_t port);

struct PageHost {
  std::string local;    ///< the address that this connection came to, as text; IPv4 in IPv6 as IPv4
  uint16_t port = 0;    ///< where we listen
  bool any = false;     ///< we listen on all addresses
  std::string machine;  ///< what this machine is called
  bool loopback = true;  ///< `local` is of this machine alone
};
/// Does `host`, of a request's Host or Origin, name us: the address that it came to, localhost over the loopback, where
/// we listen on all addresses 0.0.0.0 and [::], and elsewhere the machine's name, alone or under ".local"?
bool names_page(std::string_view host, const PageHost& us);

}  // namespace mrclab::lab
