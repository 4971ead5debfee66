#pragma once
// One BGP session over one connection that is open: OpenSent, OpenConfirm, Established, Closed (RFC 4271
// section 8). Connecting, retrying and choosing between two connections is the neighbour's
// (routing/speaker/neighbour.h). Pure: octets and time in, octets and messages out.
//
//   feed()         octets of the stream, as many as there is room for
//   take_message() the next message that its owner has to see; OPEN, KEEPALIVE and errors are dealt with here
//   outbox()       what is to be sent; when closed() the connection is to be closed behind it

#include <optional>
#include <string>
#include <variant>

#include "fabric/base/units.h"
#include "routing/bgp/open.h"
#include "routing/bgp/refresh.h"
#include "routing/bgp/update.h"

namespace mrclab::routing {

struct SessionParameters {
  AsNumber as;
  RouterId router;
  std::optional<AsNumber> peer_as;  ///< none: any but ours
  uint16_t hold_time = 9;  ///< seconds that we ask for; 0: no keepalives (FRR datacenter: 9)
  /// How long a second of the protocol's timers lasts. A fabric that lives for milliseconds compresses it.
  FabricTime second = FabricTime::from_ms(1000);
  Capabilities capabilities;
  /// 64 uniform bits, from which the keepalive interval is shortened by up to a quarter (section 10).
  uint64_t jitter = 0;
};

class BgpSession {
 public:
  enum class State : uint8_t { kOpenSent, kOpenConfirm, kEstablished, kClosed };
  struct Opened {
  };  ///< OpenConfirm: the peer has identified itself, so two connections with it can be compared
  struct Established {};
  using Message = std::variant<Opened, Established, Update, RouteRefresh>;
  /// Octets that may wait here to be taken.
  static constexpr size_t kInboxLimit = 1 << 16;

  /// The connection is open: our OPEN is in the outbox.
  BgpSession(const SessionParameters& parameters, FabricTime now);

  State state() const { return state_; }
  bool established() const { return state_ == State::kEstablished; }
  bool closed() const { return state_ == State::kClosed; }
  /// Why it was closed, as people read it.
  const std::string& reason() const { return reason_; }
  /// The peer's OPEN; there from OpenConfirm on.
  const std::optional<OpenMessage>& peer() const { return peer_; }
  /// Capability 65 is agreed.
  bool four_octet_as() const { return peer_ && peer_->capabilities.four_octet_as.has_value(); }
  uint16_t hold_time() const { return hold_time_; }

  size_t room() const { return kInboxLimit - inbox_.size(); }
  void feed(OctetView octets) { inbox_.insert(inbox_.end(), octets.begin(), octets.end()); }
  /// May be called until nothing is left.
  std::optional<Message> take_message(FabricTime now);
  /// Is there a whole message, or the beginning of something that is none?
  bool has_input() const;
  /// Does an UPDATE come next?
  bool update_is_next() const;

  Octets& outbox() { return outbox_; }
  const Octets& outbox() const { return outbox_; }
  void send(OctetView message, FabricTime now);
  /// Ends the session: the notification is the last in the outbox.
  void close(const Notification& notification);
  /// The connection was lost.
  void lost(std::string reason);

  FabricTime deadline() const;
  void on_timer(FabricTime now);

 private:
  std::optional<Message> handle(const FramedMessage& message, FabricTime now);
  void on_open(OctetView body, FabricTime now);
  void refuse_in_state();
  FabricTime seconds(uint16_t count) const { return parameters_.second * count; }
  void restart_hold(FabricTime now);
  void drop_taken(size_t octets);

  SessionParameters parameters_;
  State state_ = State::kOpenSent;
  std::string reason_;
  std::optional<OpenMessage> peer_;
  uint16_t hold_time_ = 0;  ///< as agreed
  Octets inbox_;
  size_t taken_ = 0;  ///< octets at the front of the inbox that are done with
  Octets outbox_;
  FabricTime hold_at_ = FabricTime::never(), keepalive_at_ = FabricTime::never();
};

}  // namespace mrclab::routing
