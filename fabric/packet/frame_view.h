#pragma once
// A view of a frame of MRC or RC, which stays where it lies. open() checks all that parse_mrc_frame() checks; each
// accessor then reads one field. The analyzers use it because they see millions of frames and need a few fields of
// each. parse_mrc_frame() opens a view, too, and decodes all of it into an MrcPacket.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"

namespace mrclab {

/// Where in its table the field of a member is.
template <const auto& kTable, auto kMember>
consteval size_t field_of_member() {
  size_t found = kTable.kFields, i = 0;
  std::apply(
      [&](const auto&... f) {
        const auto look = [&](const auto& field) {
          if constexpr (kIsMember<decltype(field)>) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field.member)>,
                                         decltype(kMember)>) {
              if (field.member == kMember) found = i;
            }
          }
          ++i;
        };
        (look(f), ...);
      },
      kTable.fields);
  return found;  // kFields, which no field has, does not compile below
}

/// One field of a header, as read_header() would read it.
template <const auto& kTable, auto kMember>
[[gnu::always_inline]] inline auto read_member(const uint8_t* p) {
  using Header = typename std::remove_cvref_t<decltype(kTable)>::Decoded;
  using Value = std::remove_cvref_t<decltype(std::declval<Header>().*kMember)>;
  constexpr FieldPlace kPlace = kTable.places()[field_of_member<kTable, kMember>()];
  Value value{};
  if constexpr (kIsByteArray<Value>) {
    std::copy_n(p + kPlace.bit / 8, value.size(), value.begin());
  } else {
    from_bits(load_bits<kPlace.bit, kPlace.width>(p), value);
  }
  return value;
}

class FrameView {
 public:
  /// Looks at any bytes at all, which must outlive the view. What it returns is what parse_mrc_frame() returns.
  ParseError open(std::span<const uint8_t> frame, ParseOptions options = {});
  /// Decodes all headers into `packet`. If open() refused the frame, `packet` has the headers in front of the wrong one.
  void decode(MrcPacket& packet) const;

  // The members of MrcPacket, by their names there. Only of a frame for which open() returned kNone.
  Encapsulation encapsulation() const { return encapsulation_; }
  bool trimmed() const { return trimmed_; }
  size_t payload_length() const { return payload_length_; }
  std::span<const uint8_t> payload() const { return payload_; }
  Opcode opcode() const { return opcode_; }
  bool is_roce() const { return is_rc_; }
  bool has_tseth() const { return has_tseth_; }
  bool retransmission() const {
    return !is_rc_ && read_member<kBthTable, &Bth::retransmission>(bth());
  }
  Psn psn() const { return read_member<kBthTable, &Bth::psn>(bth()); }
  Qpn destination_qp() const { return read_member<kBthTable, &Bth::destination_qp>(bth()); }
  /// DSCP and ECN of the header that switches read, and its hop limit.
  uint8_t traffic_class() const {
    return encapsulation_ == Encapsulation::kIpv4
               ? read_member<kIpv4Table, &Ipv4Header::traffic_class>(first_ip())
               : read_member<kIpv6Table, &Ipv6Header::traffic_class>(first_ip());
  }
  uint8_t hop_limit() const {
    return encapsulation_ == Encapsulation::kIpv4
               ? read_member<kIpv4Table, &Ipv4Header::hop_limit>(first_ip())
               : read_member<kIpv6Table, &Ipv6Header::hop_limit>(first_ip());
  }
  /// The hosts' addresses; those of IPv4 are mapped.
  Ipv6Address source() const {
    return encapsulation_ == Encapsulation::kIpv4
               ? mapped_ipv4(read_member<kIpv4Table, &Ipv4Header::source>(first_ip()))
               : read_member<kIpv6Table, &Ipv6Header::source>(frame_.data() + at_.ip);
  }
  Ipv6Address destination() const {
    return encapsulation_ == Encapsulation::kIpv4
               ? mapped_ipv4(read_member<kIpv4Table, &Ipv4Header::destination>(first_ip()))
               : read_member<kIpv6Table, &Ipv6Header::destination>(frame_.data() + at_.ip);
  }
  /// SRv6 only.
  Ipv6Address carrier() const {
    return read_member<kIpv6Table, &Ipv6Header::destination>(first_ip());
  }
  EntropyValue entropy() const { return entropy_of(frame_, encapsulation_); }
  /// What follows BTH.
  void read_extension(Extension& extension) const;
  /// Requires a write of MRC for which has_tseth() is true. Inline, because who needs one field then reads that alone.
  Tseth tseth() const {
    Tseth tseth;
    read_header<kTsethTable>(after_bth() + kMethTable.bytes(), tseth);
    return tseth;
  }
  /// Requires a write of MRC.
  Meth meth() const;
  /// Requires a write of MRC that is not trimmed, because a trimmed one ends before its RETH does.
  Reth reth() const;

  /// The addresses of IPv4 as all of the project holds them (RFC 4291 section 2.5.5.2).
  static Ipv6Address mapped_ipv4(const std::array<uint8_t, 4>& address) {
    Ipv6Address out{};
    out[10] = out[11] = 0xFF;
    std::copy(address.begin(), address.end(), out.begin() + 12);
    return out;
  }

 private:
  /// How far the headers were in order.
  enum class Reached : uint8_t { kNothing, kEthernet, kOuter, kInner, kUdp, kPort, kLengths, kBth };

  ParseError open_ip();
  ParseError open_ipv4();
  ParseError open_stack(ParseOptions options);
  ParseError open_write();
  ParseError open_rc_request();
  ParseError open_rc_response();
  ParseError open_control();
  ParseError take_payload(size_t begin, size_t headers);

  const uint8_t* first_ip() const { return frame_.data() + kEthernetBytes; }
  const uint8_t* bth() const { return frame_.data() + at_.bth; }
  const uint8_t* after_bth() const { return frame_.data() + at_.after_bth; }

  std::span<const uint8_t> frame_;
  std::span<const uint8_t> payload_;
  size_t payload_length_ = 0;
  FrameLayout at_{};
  // Bytes from the Ethernet header on: by its length fields, before a switch trimmed it; now; of those, what we hold.
  size_t original_ = 0;
  size_t on_wire_ = 0;
  size_t available_ = 0;
  Encapsulation encapsulation_ = Encapsulation::kSrv6;
  Reached reached_ = Reached::kNothing;
  Opcode opcode_ = Opcode::kWriteOnly;
  uint8_t pad_ = 0;
  bool whole_ = false;  // open() found nothing wrong
  bool trimmed_ = false, cut_ = false, has_tseth_ = false, is_rc_ = false;
};

}  // namespace mrclab
