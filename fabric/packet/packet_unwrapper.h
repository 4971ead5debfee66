#pragma once
// Reads through what stands around a packet of RoCEv2 or MRC: tags, labels, tunnels, mirrors, and IP headers with
// options or extensions. What comes out is a frame as FrameView reads it.
//
//   802.1Q, 802.1ad, QinQ (0x9100, 0x9200), 802.1ah, LLC/SNAP, Cisco metadata, PPPoE, MACsec without encryption,
//   NSH (RFC 8300), MPLS (RFC 3032, also in UDP: RFC 7510), RoCE version 1 (IBTA A16),
//   IPv4 options, IPv6 extension headers (RFC 8200), SRH (RFC 8754), AH (RFC 4302),
//   IP in IP (RFC 2003, 2473), Ethernet in IPv6 (RFC 8986), GRE (RFC 2784, 2890), NVGRE (RFC 7637),
//   ERSPAN I, II and III (draft-foschiano-erspan), VXLAN (RFC 7348), VXLAN-GPE, Geneve (RFC 8926), GTP-U
//
// An IPv6 header directly around another one stays, because it is MRC's carrier.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mrclab {

/// What was taken off.
enum class Layer : uint8_t {
  kVlan,
  kMacInMac,
  kSnap,
  kMetadata,
  kPppoe,
  kMacsec,
  kNsh,
  kMpls,
  kRoce1,
  kIpv4Options,
  kExtensions,
  kRouting,
  kAuthentication,
  kIpInIp,
  kEthernetInIp,
  kGre,
  kNvgre,
  kErspan,
  kVxlan,
  kVxlanGpe,
  kGeneve,
  kGtp,
};
inline constexpr size_t kLayers = 22;
/// "VXLAN", "MPLS".
std::string_view name_of(Layer layer);

/// Why a record may hold a packet that nobody sees.
enum class Hidden : uint8_t {
  kNothing,
  kEncrypted,  ///< IPsec ESP, MACsec
  kFragment,   ///< of IP: a later one, or the first of a packet to RoCEv2's port
  kCut,        ///< the record ends within the headers
  kTooDeep,    ///< more headers than anybody writes
};

class PacketUnwrapper {
 public:
  /// An Ethernet frame, any bytes at all. What is returned is valid until the next call; it is `frame` itself where
  /// nothing had to be taken off, or where nothing of RoCEv2 was found inside.
  std::span<const uint8_t> unwrapped(std::span<const uint8_t> frame);
  Hidden hidden() const { return hidden_; }
  /// Bit n: Layer n was taken off.
  uint32_t layers() const { return layers_; }

 private:
  enum class Step : uint8_t { kOn, kFound, kNotHere };

  Step step();
  Step ethernet_type();
  Step mpls();
  Step ipv4();
  Step ipv6();
  Step transport(uint8_t protocol);
  Step udp();
  Step gre();
  Step erspan(uint16_t ethertype, bool sequence);
  Step into_ethernet(Layer layer, size_t skipped);
  Step into_ethertype(Layer layer, size_t skipped, uint16_t ethertype);
  Step roce1();
  bool has(size_t bytes);
  void took(Layer layer) { layers_ |= 1u << static_cast<unsigned>(layer); }
  std::span<const uint8_t> assembled();

  std::span<const uint8_t> rest_;   // from the header that ethertype_ names
  std::array<uint8_t, 12> macs_{};  // of the Ethernet header that was read last
  uint16_t ethertype_ = 0;
  bool ethernet_next_ = false;
  std::vector<uint8_t> outer_, inner_;  // IP headers as they will stand in front of UDP
  std::vector<uint8_t> scratch_;
  Hidden hidden_ = Hidden::kNothing;
  uint32_t layers_ = 0;
};

}  // namespace mrclab
