#include "routing/bgp/message.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace mrclab::routing {

namespace {

constexpr size_t kMarkerOctets = 16;

/// The shortest message of each type (RFC 4271 section 6.1, RFC 2918); 0 for what is no type.
constexpr std::array<size_t, 6> kMinLength{0, 29, 23, 21, 19, 23};

struct ErrorName {
  ErrorCode code;
  uint8_t subcode;
  std::string_view name;
};

constexpr std::array<std::string_view, 8> kCodeNames{"unknown error",
                                                     "message header error",
                                                     "OPEN message error",
                                                     "UPDATE message error",
                                                     "hold timer expired",
                                                     "state machine error",
                                                     "cease",
                                                     "ROUTE-REFRESH message error"};

constexpr ErrorName kErrorNames[] = {
    {ErrorCode::kHeader, 1, "connection not synchronized"},
    {ErrorCode::kHeader, 2, "bad message length"},
    {ErrorCode::kHeader, 3, "bad message type"},
    {ErrorCode::kOpen, 1, "unsupported version number"},
    {ErrorCode::kOpen, 2, "bad peer AS"},
    {ErrorCode::kOpen, 3, "bad BGP identifier"},
    {ErrorCode::kOpen, 4, "unsupported optional parameter"},
    {ErrorCode::kOpen, 6, "unacceptable hold time"},
    {ErrorCode::kOpen, 7, "unsupported capability"},
    {ErrorCode::kUpdate, 1, "malformed attribute list"},
    {ErrorCode::kUpdate, 2, "unrecognized well-known attribute"},
    {ErrorCode::kUpdate, 3, "missing well-known attribute"},
    {ErrorCode::kUpdate, 4, "attribute flags error"},
    {ErrorCode::kUpdate, 5, "attribute length error"},
    {ErrorCode::kUpdate, 6, "invalid ORIGIN attribute"},
    {ErrorCode::kUpdate, 8, "invalid NEXT_HOP attribute"},
    {ErrorCode::kUpdate, 9, "optional attribute error"},
    {ErrorCode::kUpdate, 10, "invalid network field"},
    {ErrorCode::kUpdate, 11, "malformed AS_PATH"},
    {ErrorCode::kStateMachine, 1, "unexpected message in OpenSent"},
    {ErrorCode::kStateMachine, 2, "unexpected message in OpenConfirm"},
    {ErrorCode::kStateMachine, 3, "unexpected message in Established"},
    {ErrorCode::kCease, cease::kTooManyPrefixes, "maximum number of prefixes reached"},
    {ErrorCode::kCease, cease::kShutdown, "administrative shutdown"},
    {ErrorCode::kCease, cease::kReset, "administrative reset"},
    {ErrorCode::kCease, cease::kRejected, "connection rejected"},
    {ErrorCode::kCease, cease::kCollision, "connection collision resolution"},
    {ErrorCode::kCease, cease::kOutOfResources, "out of resources"},
    {ErrorCode::kRouteRefresh, 1, "invalid message length"},
};

}  // namespace

std::string to_string(const Notification& notification) {
  const auto code = static_cast<size_t>(notification.code);
  std::string text{kCodeNames[code < kCodeNames.size() ? code : 0]};
  for (const ErrorName& known : kErrorNames) {
    if (known.code == notification.code && known.subcode == notification.subcode) {
      text += ": " + std::string(known.name);
    }
  }
  return text + " (" + std::to_string(code) + "/" + std::to_string(notification.subcode) + ")";
}

NextMessage next_message(OctetView stream) {
  const size_t marker = std::min(stream.size(), kMarkerOctets);
  if (!std::all_of(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(marker),
                   [](uint8_t octet) { return octet == 0xFF; })) {
    return Notification{ErrorCode::kHeader, 1, {}};
  }
  if (stream.size() < kBgpHeaderOctets) return std::monostate{};
  const uint8_t* field = stream.data() + kMarkerOctets;
  const size_t length = load_be<uint16_t>(field);
  const uint8_t type = field[2];
  // The length is looked at first where it is wrong for every type, as what follows cannot be delimited.
  if (length < kBgpHeaderOctets || length > kMaxBgpMessage) {
    return Notification{ErrorCode::kHeader, 2, {field[0], field[1]}};
  }
  if (type == 0 || type >= kMinLength.size()) return Notification{ErrorCode::kHeader, 3, {type}};
  const auto kind = static_cast<MessageType>(type);
  if (length < kMinLength[type] ||
      (kind == MessageType::kKeepalive && length != kMinLength[type])) {
    return Notification{ErrorCode::kHeader, 2, {field[0], field[1]}};
  }
  if (stream.size() < length) return std::monostate{};
  return FramedMessage{kind, stream.subspan(kBgpHeaderOctets, length - kBgpHeaderOctets), length};
}

size_t begin_message(Octets& to, MessageType type) {
  const size_t at = to.size();
  to.insert(to.end(), kMarkerOctets, 0xFF);
  OctetWriter(to).u16(0).u8(static_cast<unsigned>(type));
  return at;
}

void finish_message(Octets& to, size_t begun_at) {
  OctetWriter(to).patch_u16(begun_at + kMarkerOctets, to.size() - begun_at);
}

Octets encode_keepalive() {
  Octets message;
  finish_message(message, begin_message(message, MessageType::kKeepalive));
  return message;
}

Octets encode_notification(const Notification& notification) {
  Octets message;
  const size_t at = begin_message(message, MessageType::kNotification);
  const size_t room = kMaxBgpMessage - message.size() - 2;
  OctetWriter(message)
      .u8(static_cast<unsigned>(notification.code))
      .u8(notification.subcode)
      .bytes(OctetView(notification.data).first(std::min(notification.data.size(), room)));
  finish_message(message, at);
  return message;
}

std::optional<Notification> decode_notification(OctetView body) {
  OctetReader reader(body);
  Notification found;
  found.code = static_cast<ErrorCode>(reader.u8());
  found.subcode = reader.u8();
  if (reader.failed()) return std::nullopt;
  found.data.assign(reader.rest().begin(), reader.rest().end());
  return found;
}

}  // namespace mrclab::routing
