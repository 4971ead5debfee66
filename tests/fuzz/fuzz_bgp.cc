// Any bytes as BGP messages: what is read is written to the same meaning, and a session that gets them answers
// with nothing but messages.

#include <algorithm>

#include "routing/session/bgp_session.h"
#include "tests/fuzz/must.h"

using namespace mrclab;
using namespace mrclab::routing;

namespace {

void check_update(OctetView body) {
  for (const bool four_octets : {true, false}) {
    // The first AS is the body's own, so that more than that check is reached.
    auto decoded = decode_update(body, {four_octets, AsNumber{65001}});
    auto* update = std::get_if<Update>(&decoded);
    if (update == nullptr || update->announced.empty()) continue;
    MUST(update->attributes != nullptr);
    const Octets attributes = encode_attributes(*update->attributes, true);
    if (attributes.size() > kMaxAttributeOctets) continue;
    std::vector<Octets> messages;
    encode_announcements(messages, attributes, update->attributes->next_hop, update->announced);
    std::vector<Prefix> again;
    for (const Octets& message : messages) {
      const NextMessage next = next_message(message);
      MUST(std::holds_alternative<FramedMessage>(next));
      auto read = decode_update(std::get<FramedMessage>(next).body, {true, AsNumber{65001}});
      MUST(std::holds_alternative<Update>(read));
      MUST(*std::get<Update>(read).attributes == *update->attributes);
      const auto& announced = std::get<Update>(read).announced;
      again.insert(again.end(), announced.begin(), announced.end());
    }
    MUST(again == update->announced);
  }
}

void check_refresh(OctetView body) {
  const auto decoded = decode_refresh(body);
  const auto* refresh = std::get_if<RouteRefresh>(&decoded);
  if (refresh == nullptr || refresh->entries.size() > kMaxOrfEntries) return;
  const Octets message = encode_refresh(*refresh);
  const NextMessage next = next_message(message);
  MUST(std::holds_alternative<FramedMessage>(next));
  MUST(std::get<RouteRefresh>(decode_refresh(std::get<FramedMessage>(next).body)) == *refresh);
}

void check_open(OctetView body) {
  const auto decoded = decode_open(body, {AsNumber{65002}, RouterId{2}, std::nullopt});
  const auto* open = std::get_if<OpenMessage>(&decoded);
  if (open == nullptr) return;
  OpenMessage full = *open;
  full.capabilities.four_octet_as = full.as;
  const Octets message = encode_open(full);
  const NextMessage next = next_message(message);
  MUST(std::get<OpenMessage>(decode_open(std::get<FramedMessage>(next).body,
                                         {AsNumber{65002}, RouterId{2}, std::nullopt})) == full);
}

/// All that a session writes is whole messages, the last of which may be a notification.
void check_answers(const Octets& outbox) {
  OctetView left = outbox;
  while (!left.empty()) {
    const NextMessage next = next_message(left);
    MUST(std::holds_alternative<FramedMessage>(next));
    const auto& message = std::get<FramedMessage>(next);
    if (message.type == MessageType::kNotification) MUST(message.length == left.size());
    left = left.subspan(message.length);
  }
}

void check_session(OctetView stream, bool established) {
  SessionParameters parameters;
  parameters.as = AsNumber{65002};
  parameters.router = RouterId{2};
  parameters.capabilities.ipv6_unicast = true;
  BgpSession session(parameters, FabricTime::zero());
  if (established) {
    OpenMessage open;
    open.as = AsNumber{65001};
    open.router = RouterId{1};
    open.capabilities.ipv6_unicast = true;
    open.capabilities.four_octet_as = open.as;
    session.feed(encode_open(open));
    session.feed(encode_keepalive());
    while (session.take_message(FabricTime::zero())) {
    }
    MUST(session.established());
  }
  while (!stream.empty() && !session.closed()) {
    const size_t piece = std::min<size_t>(stream.size(), 1 + stream[0] % 64);
    session.feed(stream.first(std::min(piece, session.room())));
    stream = stream.subspan(piece);
    while (session.take_message(FabricTime::zero())) {
    }
  }
  check_answers(session.outbox());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const OctetView bytes(data, size);
  check_update(bytes);
  check_refresh(bytes);
  check_open(bytes);
  check_session(bytes, false);
  check_session(bytes, true);
  // The same with a header in front, which a fuzzer finds late.
  if (size > 0) {
    Octets message;
    const size_t at = begin_message(message, static_cast<MessageType>(1 + data[0] % 5));
    OctetWriter(message).bytes(bytes.subspan(1).first(std::min<size_t>(size - 1, 4000)));
    finish_message(message, at);
    check_session(message, true);
  }
  return 0;
}
