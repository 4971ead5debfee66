#pragma once
// The frame around every BGP message (RFC 4271 section 4.1), and the two messages without much in them:
// NOTIFICATION and KEEPALIVE.

#include <optional>
#include <string>
#include <variant>

#include "routing/base/octets.h"

namespace mrclab::routing {

inline constexpr size_t kBgpHeaderOctets = 19;
/// The longest message: RFC 8654's longer ones are never offered, so no peer may send them.
inline constexpr size_t kMaxBgpMessage = 4096;

enum class MessageType : uint8_t {
  kOpen = 1,
  kUpdate = 2,
  kNotification = 3,
  kKeepalive = 4,
  kRouteRefresh = 5,
};

enum class ErrorCode : uint8_t {
  kHeader = 1,
  kOpen = 2,
  kUpdate = 3,
  kHoldTimer = 4,
  kStateMachine = 5,
  kCease = 6,
  kRouteRefresh = 7,
};

/// Why a session ends. Subcodes are numbers of RFC 4271, 4486, 5492, 6608 and 7313.
struct Notification {
  ErrorCode code = ErrorCode::kCease;
  uint8_t subcode = 0;
  Octets data;
  bool operator==(const Notification&) const = default;
};
/// "UPDATE message error: malformed attribute list (3/1)".
std::string to_string(const Notification& notification);

namespace cease {
inline constexpr uint8_t kTooManyPrefixes = 1, kShutdown = 2, kReset = 4, kRejected = 5,
                         kCollision = 7, kOutOfResources = 8;
}  // namespace cease

/// One message at the front of a stream. `body` is what follows the header.
struct FramedMessage {
  MessageType type = MessageType::kKeepalive;
  OctetView body;
  size_t length = 0;  ///< with the header
};
/// Nothing: more octets are needed. A notification: the stream is broken, and this is the answer.
using NextMessage = std::variant<std::monostate, FramedMessage, Notification>;
NextMessage next_message(OctetView stream);

/// Appends a header to `to`; finish_message() then writes the length of all since.
size_t begin_message(Octets& to, MessageType type);
void finish_message(Octets& to, size_t begun_at);

Octets encode_keepalive();
Octets encode_notification(const Notification& notification);
/// The body of a NOTIFICATION; nullopt if it is too short for one. A code that no RFC defines is kept.
std::optional<Notification> decode_notification(OctetView body);

}  // namespace mrclab::routing
