#include "fabric/neighbours/lldp_frame.h"

#include <algorithm>
#include <cassert>

#include "fabric/base/byte_order.h"
#include "fabric/packet/header_values.h"
#include "fabric/text/enum_words.h"
#include "fabric/text/visible_text.h"

namespace mrclab {
namespace {

constexpr MacAddress kNearestBridge{0x01, 0x80, 0xC2, 0x00, 0x00, 0x0E};
constexpr MacAddress kNearestNonTpmr{0x01, 0x80, 0xC2, 0x00, 0x00, 0x03};
constexpr MacAddress kNearestCustomer{0x01, 0x80, 0xC2, 0x00, 0x00, 0x00};
enum Type : uint8_t {
  kEnd,
  kChassis,
  kPort,
  kTtl,
  kSystemName = 5,
  kCapabilities = 7,
  kOrganization = 127
};
// Subtypes of clauses 8.5.2 and 8.5.3.
constexpr uint8_t kChassisMac = 4, kPortInterfaceName = 5;
constexpr uint16_t kBridgeAndRouter = 1u << 2 | 1u << 4, kStation = 1u << 7;
/// "MC" behind an octet with the local bit set; our choice, as is the subtype.
constexpr std::array<uint8_t, 4> kOurs{0x02, 0x4D, 0x43, 0x01};
/// Longer than any name of a node or a port here (graph_file.cc), and what one frame has room for.
constexpr size_t kLongestSystem = 48, kLongestPort = 24;
constexpr size_t kSetBytes = UplinkSet{}.size() / 8;
constexpr size_t kLongestId = 255;  // of chassis and port, behind the subtype

bool is_address(const uint8_t* at, const MacAddress& address) {
  return std::equal(address.begin(), address.end(), at);
}

/// Writes TLVs one behind the other.
class TlvWriter {
 public:
  explicit TlvWriter(std::span<uint8_t> out) : out_(out) {}
  void begin(uint8_t type, size_t length) {
    assert(at_ + 2 + length <= out_.size());
    store_be<uint16_t>(&out_[at_], static_cast<uint16_t>(type << 9 | length));
    at_ += 2;
  }
  void byte(uint8_t value) { out_[at_++] = value; }
  void word(uint16_t value) {
    store_be<uint16_t>(&out_[at_], value);
    at_ += 2;
  }
  void bytes(auto begin, auto end) {
    for (; begin != end; ++begin) byte(static_cast<uint8_t>(*begin));
  }

 private:
  std::span<uint8_t> out_;
  size_t at_ = 0;
};

LldpError take_ours(std::span<const uint8_t> value, LldpFrame& out) {
  const auto rest = value.subspan(kOurs.size());
  if (rest.size() != 1 + kSetBytes) return LldpError::kBadLength;
  out.ours = true;
  out.service.forwards = (rest[0] & 1) != 0;
  for (size_t i = 0; i < UplinkSet{}.size(); ++i) {
    out.service.unused[i] = (rest[1 + i / 8] & 1u << i % 8) != 0;
  }
  return LldpError::kNone;
}

std::string_view text_of(std::span<const uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// One of the first three, each of which is there once.
LldpError take_mandatory(size_t place, std::span<const uint8_t> value, LldpFrame& out) {
  if (place == kTtl) {
    if (value.size() < 2) return LldpError::kBadLength;
    out.ttl_s = load_be<uint16_t>(value.data());
    return LldpError::kNone;
  }
  if (value.size() < 2 || value.size() > 1 + kLongestId) return LldpError::kBadLength;
  const uint8_t subtype = value[0];
  const std::string_view id = text_of(value.subspan(1));
  if (place ==
      kChassis) {  // 1 chassis component, 2 interface alias, 3 port component, 6 name, 7 local
    out.chassis = id;
    out.chassis_is_text = subtype <= 3 || subtype == 6 || subtype == 7;
  } else {  // 1 interface alias, 2 port component, 5 interface name, 7 local
    out.port = id;
    out.port_is_text = subtype <= 2 || subtype == kPortInterfaceName || subtype == 7;
  }
  return LldpError::kNone;
}

std::string hex_of(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    const auto value = static_cast<uint8_t>(byte);
    text += (text.empty() ? "" : ":") + std::string{kDigits[value >> 4], kDigits[value & 15]};
  }
  return text;
}

}  // namespace

std::string_view name_of(LldpError error) {
  constexpr auto kNames = words_by_value<LldpError>({{LldpError::kNone, "none"},
                                                     {LldpError::kNotLldp, "not_lldp"},
                                                     {LldpError::kTooShort, "too_short"},
                                                     {LldpError::kOrder, "order"},
                                                     {LldpError::kBadLength, "bad_length"}});
  return kNames[static_cast<size_t>(error)];
}

bool is_lldp(std::span<const uint8_t> frame) {
  return frame.size() >= kEthernetBytes && load_be<uint16_t>(&frame[12]) == kLldpEthertype;
}

LldpError parse_lldp(std::span<const uint8_t> frame, LldpFrame& out) {
  out = {};
  if (!is_lldp(frame)) return LldpError::kNotLldp;
  const bool addressed = is_address(frame.data(), kNearestBridge) ||
                         is_address(frame.data(), kNearestNonTpmr) ||
                         is_address(frame.data(), kNearestCustomer);
  if (!addressed) return LldpError::kNotLldp;
  size_t at = kEthernetBytes;
  // A TLV has two bytes at least, so the loop ends with the frame.
  for (size_t place = kChassis;; ++place) {
    if (at + 2 > frame.size()) return place > kTtl ? LldpError::kNone : LldpError::kTooShort;
    const uint16_t head = load_be<uint16_t>(&frame[at]);
    const size_t type = head >> 9, length = head & 0x1FF;
    at += 2;
    if (at + length > frame.size()) return LldpError::kTooShort;
    const std::span<const uint8_t> value = frame.subspan(at, length);
    at += length;
    if (place <= kTtl || type <= kTtl) {
      if (type == kEnd && place > kTtl) {
        return length == 0 ? LldpError::kNone : LldpError::kBadLength;
      }
      if (type != place) return LldpError::kOrder;
      if (const LldpError bad = take_mandatory(place, value, out); bad != LldpError::kNone) {
        return bad;
      }
    } else if (type == kSystemName) {
      if (length == 0 || length > kLongestId) return LldpError::kBadLength;
      out.system = text_of(value);
    } else if (type == kOrganization) {
      if (length < kOurs.size()) return LldpError::kBadLength;
      if (!std::equal(kOurs.begin(), kOurs.end(), value.begin())) continue;
      if (const LldpError bad = take_ours(value, out); bad != LldpError::kNone) return bad;
    }
  }
}

Frame make_lldp(FramePool& pool, const Topology& topology, PortRef ref, uint16_t ttl_s,
                const LldpService& service) {
  Frame frame = pool.make(kLldpFrameBytes);
  if (!frame) return frame;
  const NodeSite& site = topology.node(ref.node);
  const Port& port = topology.port(ref);
  const std::span<uint8_t> out = frame.writable_bytes();
  std::fill(out.begin(), out.end(), uint8_t{0});
  std::copy(kNearestBridge.begin(), kNearestBridge.end(), out.begin());
  std::copy(port.mac.begin(), port.mac.end(), out.begin() + 6);
  store_be<uint16_t>(&out[12], kLldpEthertype);
  TlvWriter tlv(out.subspan(kEthernetBytes));
  const MacAddress& chassis = site.ports.front().mac;
  tlv.begin(kChassis, 1 + chassis.size());
  tlv.byte(kChassisMac);
  tlv.bytes(chassis.begin(), chassis.end());
  const std::string name = port.name().substr(0, kLongestPort);
  tlv.begin(kPort, 1 + name.size());
  tlv.byte(kPortInterfaceName);
  tlv.bytes(name.begin(), name.end());
  tlv.begin(kTtl, 2);
  tlv.word(ttl_s);
  const std::string_view system = std::string_view(site.name).substr(0, kLongestSystem);
  tlv.begin(kSystemName, system.size());
  tlv.bytes(system.begin(), system.end());
  const uint16_t is = site.role == NodeRole::kHost ? kStation : kBridgeAndRouter;
  tlv.begin(kCapabilities, 4);
  tlv.word(is);
  tlv.word(is);
  tlv.begin(kOrganization, kOurs.size() + 1 + kSetBytes);
  tlv.bytes(kOurs.begin(), kOurs.end());
  tlv.byte(service.forwards ? 1 : 0);
  for (size_t i = 0; i < kSetBytes; ++i) {
    uint8_t byte = 0;
    for (size_t bit = 0; bit < 8; ++bit) {
      byte = static_cast<uint8_t>(byte | (service.unused[8 * i + bit] ? 1u << bit : 0u));
    }
    tlv.byte(byte);
  }
  tlv.begin(kEnd, 0);
  frame.set_modelled_size({kLldpFrameBytes});
  return frame;
}

std::string sender_of(const LldpFrame& frame) {
  const std::string system =
      !frame.system.empty()
          ? visible(frame.system)
          : (frame.chassis_is_text ? visible(frame.chassis) : hex_of(frame.chassis));
  return system + ":" + (frame.port_is_text ? visible(frame.port) : hex_of(frame.port));
}

}  // namespace mrclab
