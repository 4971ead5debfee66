// Sessions joined by their octets alone.

#include <doctest/doctest.h>

#include "routing/session/bgp_session.h"
#include "tests/support/bytes.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::counterexample;
using mrclab::test::from_hex;
using SessionState = BgpSession::State;

namespace {

SessionParameters speaker(uint32_t n) {
  SessionParameters parameters;
  parameters.as = AsNumber{65000 + n};
  parameters.router = RouterId{n};
  parameters.capabilities.ipv6_unicast = parameters.capabilities.route_refresh = true;
  return parameters;
}

/// Hands the outbox of one to the other, `piece` octets at a time.
void carry(BgpSession& from, BgpSession& to, FabricTime now, size_t piece = 4096) {
  const Octets octets = std::move(from.outbox());
  from.outbox().clear();
  for (size_t at = 0; at < octets.size(); at += piece) {
    to.feed(OctetView(octets).subspan(at, std::min(piece, octets.size() - at)));
    while (to.take_message(now)) {
    }
  }
}

struct SessionPair {
  explicit SessionPair(size_t piece = 4096) {
    for (int i = 0; i < 3; ++i) {
      carry(a, b, now, piece);
      carry(b, a, now, piece);
    }
  }
  FabricTime now = FabricTime::from_ms(1);
  BgpSession a{speaker(1), FabricTime::zero()}, b{speaker(2), FabricTime::zero()};
};

/// What a session that is at `state` answers to `hex`; "" for nothing.
std::string answer_to(SessionState state, const std::string& hex) {
  SessionPair pair;
  BgpSession fresh(speaker(1), pair.now);
  if (state == SessionState::kOpenConfirm) {
    BgpSession other(speaker(2), pair.now);
    carry(other, fresh, pair.now);
  }
  BgpSession& session = state == SessionState::kEstablished ? pair.a : fresh;
  REQUIRE(session.state() == state);
  session.outbox().clear();
  session.feed(from_hex(hex));
  while (session.take_message(pair.now)) {
  }
  if (!session.closed()) return "";
  const NextMessage next = next_message(session.outbox());
  const auto* framed = std::get_if<FramedMessage>(&next);
  if (framed == nullptr) return "silence";
  const auto notification = decode_notification(framed->body);
  return std::to_string(static_cast<int>(notification->code)) + "/" +
         std::to_string(notification->subcode);
}

const std::string kMark(32, 'f');

}  // namespace

TEST_CASE("two sessions are established, also from single octets, with the shorter hold time") {
  for (const size_t piece : {size_t{1}, size_t{18}, size_t{4096}}) {
    SessionPair pair(piece);
    CHECK(pair.a.established());
    CHECK(pair.b.established());
    CHECK(pair.a.peer()->as == AsNumber{65002});
    CHECK(pair.a.hold_time() == 9);
  }
}

TEST_CASE("messages that a state does not expect end the session with its subcode") {
  const std::string keepalive = kMark + "001304",
                    update = kMark +
                             "001702"
                             "00000000",
                    refresh = kMark +
                              "001705"
                              "00020001",
                    open = kMark +
                           "002501"
                           "04fdea00090000000208"
                           "0206010400020001";
  CHECK(answer_to(SessionState::kOpenSent, keepalive) == "5/1");
  CHECK(answer_to(SessionState::kOpenSent, update) == "5/1");
  CHECK(answer_to(SessionState::kOpenConfirm, update) == "5/2");
  CHECK(answer_to(SessionState::kOpenConfirm, open) == "5/2");
  CHECK(answer_to(SessionState::kEstablished, open) == "5/3");
  CHECK(answer_to(SessionState::kEstablished, keepalive + refresh + update) == "");
  CHECK(answer_to(SessionState::kOpenSent, open) == "");
  CHECK(answer_to(SessionState::kEstablished, kMark + "001503"
                                                      "0602") == "silence");
  CHECK(answer_to(SessionState::kEstablished, kMark + "001304"
                                                      "00") == "1/1");
  CHECK(answer_to(SessionState::kEstablished, kMark + "001302") == "1/2");
  CHECK(answer_to(SessionState::kEstablished, kMark + "001309") == "1/3");
  CHECK(answer_to(SessionState::kEstablished, kMark + "001802"
                                                      "0005000000") == "3/1");
}

TEST_CASE("keepalives hold a session; silence ends it when the hold time is over, not before") {
  SessionPair pair;
  const FabricTime end = pair.now + FabricTime::from_ms(60'000);
  while (pair.a.deadline() < end) {
    pair.now = std::min(pair.a.deadline(), pair.b.deadline());
    pair.a.on_timer(pair.now);
    pair.b.on_timer(pair.now);
    carry(pair.a, pair.b, pair.now);
    carry(pair.b, pair.a, pair.now);
    REQUIRE(pair.a.established());
  }
  const FabricTime last = pair.now;
  while (pair.b.established()) {
    pair.now = pair.b.deadline();
    pair.b.on_timer(pair.now);
  }
  CHECK(pair.now <= last + FabricTime::from_ms(9'000));
  CHECK(pair.now > last + FabricTime::from_ms(5'000));
  CHECK(pair.b.reason() == "sent hold timer expired (4/0)");
}

TEST_CASE("random octets never break a session but by a notification") {
  CHECK(counterexample(
            [] {
              SessionPair pair;
              pair.a.outbox().clear();
              for (int i = 0; i < 20 && !pair.a.closed(); ++i) {
                const auto type = *rc::gen::inRange<unsigned>(1, 6);
                const auto body = *rc::gen::container<Octets>(rc::gen::arbitrary<uint8_t>());
                Octets message;
                const size_t at = begin_message(message, static_cast<MessageType>(type));
                OctetWriter(message).bytes(body);
                finish_message(message, at);
                if (*rc::gen::inRange(0, 30) == 0)
                  message[*rc::gen::inRange<size_t>(0, message.size())] ^= 1;
                pair.a.feed(message);
                while (pair.a.take_message(pair.now)) {
                }
              }
              if (!pair.a.closed()) return;
              if (pair.a.reason().starts_with("received")) return;
              const NextMessage next = next_message(pair.a.outbox());
              RC_ASSERT(std::holds_alternative<FramedMessage>(next));
              RC_ASSERT((std::get<FramedMessage>(next).type == MessageType::kNotification));
            },
            500) == "");
}
