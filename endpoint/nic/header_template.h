#pragma once
// Everything of a packet up to the end of BTH, written fast: the codec of fabric/packet has written Ethernet, IP and
// UDP once for each encapsulation, and for each packet only those fields are put in that are its own. Filling in and
// writing an MrcFrameSpec takes three times as long.

#include <array>
#include <cstdint>
#include <memory>

#include "endpoint/nic/path_mapper.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

class HeaderTemplate {
 public:
  /// For packets of the host with this address.
  HeaderTemplate(Encapsulation encapsulation, const Ipv6Address& own_address, uint16_t udp_port);

  /// What a packet has of its own.
  struct Packet {
    const PathHeaders& path;  ///< its encapsulation is the one that the template was made for
    const Ipv6Address& destination;
    EntropyValue ev;  ///< as PathMapper::on_wire() gives it
    uint8_t dscp = 0;
    uint8_t ecn = kEcnEct0;
    size_t size = 0;  ///< bytes of the whole frame
    const Bth& bth;
  };
  /// Writes size() bytes.
  void write(const Packet& packet, uint8_t* out) const;
  size_t size() const { return at_.after_bth; }

 private:
  Encapsulation encapsulation_;
  FrameLayout at_;
  std::array<uint8_t, kBthOffset> bytes_{};  ///< up to BTH; those with a carrier are the longest
};

/// The templates of one host, each made when it is first needed.
class HeaderTemplates {
 public:
  /// `paths` outlives it. `self`: the number of the host.
  HeaderTemplates(const PathMapper& paths, uint32_t self) : paths_(paths), self_(self) {}

  const HeaderTemplate& of(Encapsulation encapsulation) {
    std::unique_ptr<HeaderTemplate>& made = made_[static_cast<size_t>(encapsulation)];
    if (!made) {
      made = std::make_unique<HeaderTemplate>(
          encapsulation, paths_.address_in(encapsulation, self_), paths_.udp_port());
    }
    return *made;
  }

 private:
  const PathMapper& paths_;
  uint32_t self_;
  std::array<std::unique_ptr<HeaderTemplate>, 3> made_;  // most hosts need one of them
};

}  // namespace mrclab::endpoint
