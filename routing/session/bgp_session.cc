#include "routing/session/bgp_session.h"

#include <algorithm>

#include "routing/base/drop_front.h"

namespace mrclab::routing {

namespace {

constexpr uint16_t kOpenHoldSeconds =
    240;                               // RFC 4271 section 8.2.2: a large value, 4 minutes suggested
constexpr int kKeepalivesPerHold = 3;  // section 10

}  // namespace

BgpSession::BgpSession(const SessionParameters& parameters, FabricTime now)
    : parameters_(parameters), hold_at_(now + parameters.second * kOpenHoldSeconds) {
  OpenMessage open;
  open.as = parameters.as;
  open.hold_time = parameters.hold_time;
  open.router = parameters.router;
  open.capabilities = parameters.capabilities;
  open.capabilities.four_octet_as = parameters.as;
  outbox_ = encode_open(open);
}

void BgpSession::send(OctetView message, FabricTime now) {
  outbox_.insert(outbox_.end(), message.begin(), message.end());
  // An UPDATE is as good as a keepalive (RFC 4271 section 8.2.2).
  if (hold_time_ != 0) {
    const FabricTime interval = seconds(hold_time_) / kKeepalivesPerHold;
    const auto shorter = static_cast<int64_t>(parameters_.jitter >> 40);
    keepalive_at_ = now + interval - interval / 4 / (int64_t{1} << 24) * shorter;
  }
}

void BgpSession::restart_hold(FabricTime now) {
  hold_at_ = hold_time_ == 0 ? FabricTime::never() : now + seconds(hold_time_);
}

void BgpSession::close(const Notification& notification) {
  if (closed()) return;
  const Octets message = encode_notification(notification);
  outbox_.insert(outbox_.end(), message.begin(), message.end());
  lost("sent " + to_string(notification));
}

void BgpSession::lost(std::string reason) {
  if (closed()) return;
  state_ = State::kClosed;
  reason_ = std::move(reason);
  hold_at_ = keepalive_at_ = FabricTime::never();
  inbox_.clear();
  taken_ = 0;
}

bool BgpSession::has_input() const {
  return !closed() &&
         !std::holds_alternative<std::monostate>(next_message(OctetView(inbox_).subspan(taken_)));
}

bool BgpSession::update_is_next() const {
  const NextMessage next = next_message(OctetView(inbox_).subspan(taken_));
  const auto* framed = std::get_if<FramedMessage>(&next);
  return framed != nullptr && framed->type == MessageType::kUpdate;
}

void BgpSession::drop_taken(size_t octets) {
  taken_ += octets;
  // Moving what is left after every message would cost the square of the inbox.
  if (taken_ == inbox_.size() || taken_ > kInboxLimit / 2) {
    drop_front(inbox_, taken_);
    taken_ = 0;
  }
}

std::optional<BgpSession::Message> BgpSession::take_message(FabricTime now) {
  while (!closed()) {
    const NextMessage next = next_message(OctetView(inbox_).subspan(taken_));
    if (std::holds_alternative<std::monostate>(next)) return std::nullopt;
    if (const auto* wrong = std::get_if<Notification>(&next)) {
      close(*wrong);
      return std::nullopt;
    }
    const auto& message = std::get<FramedMessage>(next);
    auto taken = handle(message, now);
    if (!closed()) drop_taken(message.length);
    if (taken) return taken;
  }
  return std::nullopt;
}

void BgpSession::refuse_in_state() {
  const auto subcode = static_cast<uint8_t>(static_cast<uint8_t>(state_) + 1);  // RFC 6608
  close({ErrorCode::kStateMachine, subcode, {}});
}

void BgpSession::on_open(OctetView body, FabricTime now) {
  auto decoded = decode_open(body, {parameters_.as, parameters_.router, parameters_.peer_as});
  if (const auto* wrong = std::get_if<Notification>(&decoded)) return close(*wrong);
  peer_ = std::get<OpenMessage>(std::move(decoded));
  hold_time_ = std::min(parameters_.hold_time, peer_->hold_time);
  state_ = State::kOpenConfirm;
  restart_hold(now);
  send(encode_keepalive(), now);
}

std::optional<BgpSession::Message> BgpSession::handle(const FramedMessage& message,
                                                      FabricTime now) {
  if (message.type == MessageType::kNotification) {
    const auto notification = decode_notification(message.body);
    lost("received " + (notification ? to_string(*notification) : std::string("NOTIFICATION")));
    return std::nullopt;
  }
  if (state_ == State::kOpenSent) {
    if (message.type == MessageType::kOpen) {
      on_open(message.body, now);
      return closed() ? std::nullopt : std::optional<Message>(Opened{});
    }
    refuse_in_state();
    return std::nullopt;
  }
  if (message.type == MessageType::kKeepalive) {
    restart_hold(now);
    if (state_ == State::kEstablished) return std::nullopt;
    state_ = State::kEstablished;
    return Established{};
  }
  if (state_ == State::kEstablished && message.type == MessageType::kUpdate) {
    restart_hold(now);
    auto update = decode_update(message.body, {four_octet_as(), peer_->as});
    if (auto* right = std::get_if<Update>(&update)) return std::move(*right);
    close(std::get<Notification>(update));
    return std::nullopt;
  }
  if (state_ == State::kEstablished && message.type == MessageType::kRouteRefresh) {
    auto refresh = decode_refresh(message.body);
    if (auto* right = std::get_if<RouteRefresh>(&refresh)) return std::move(*right);
    close(std::get<Notification>(refresh));
    return std::nullopt;
  }
  refuse_in_state();
  return std::nullopt;
}

FabricTime BgpSession::deadline() const { return std::min(hold_at_, keepalive_at_); }

void BgpSession::on_timer(FabricTime now) {
  if (now >= hold_at_) {
    // What has arrived and waits behind other work is a sign of life.
    if (state_ == State::kEstablished && has_input()) {
      restart_hold(now);
    } else {
      return close({ErrorCode::kHoldTimer, 0, {}});
    }
  }
  if (now >= keepalive_at_) send(encode_keepalive(), now);
}

}  // namespace mrclab::routing
