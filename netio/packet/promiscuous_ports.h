#pragma once
// Which wires end at an interface in promiscuous mode. libpcap (tcpdump, Wireshark) sets that mode before it receives its
// first packet, and the kernel reports it to every socket of its group in the same call. So a sender that asks here just
// before it sends does not hand a bundle (fabric/packet/bundle.h) to whoever has begun to listen: except where all that
// the listener does between that call and its first packet fits in between the question and the sending.
//
// The interfaces at both ends of a wire count, so the namespaces of a process's neighbours are watched as its own are.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "netio/kernel/link.h"
#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class PromiscuousPorts {
 public:
  /// An interface of a namespace, and the wires that end there.
  struct Watched {
    std::string interface;
    WireId in, out;
  };

  /// `wires`: how many the lab has. Throws SystemError, as do the others.
  explicit PromiscuousPorts(size_t wires);

  /// Takes one descriptor. What was promiscuous before is not known here.
  void watch_namespace(NetworkNamespace ns, std::vector<Watched> ports);

  /// Readable when there is something for update().
  int fd() const { return changes_.get(); }
  void update();
  /// As of the last update().
  bool on(WireId wire) const { return promiscuous_[wire.value] != 0; }

 private:
  struct Place {
    NetworkNamespace ns;
    LinkWatch links;
    std::map<std::string, Watched, std::less<>> ports;
  };
  void note(const Place& place, const LinkState& link);

  FileDescriptor changes_;  ///< an epoll
  std::vector<Place> places_;
  std::vector<uint8_t> promiscuous_;  ///< by WireId: a bit for each end
};

}  // namespace mrclab::netio
