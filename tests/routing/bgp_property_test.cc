// What is written is read back, whatever it is.

#include <doctest/doctest.h>

#include "routing/bgp/open.h"
#include "routing/bgp/refresh.h"
#include "routing/bgp/update.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::counterexample;

namespace {

template <class T>
T any(T from, T below) {
  return *rc::gen::inRange<T>(from, below);
}

AsNumber any_as() {
  return {any(0, 2) == 0 ? any<uint32_t>(1, 65'536) : any<uint32_t>(65'536, 0xFFFF'FFFF)};
}

Prefix any_prefix() {
  Ipv6Address address;
  for (uint8_t& octet : address) octet = *rc::gen::arbitrary<uint8_t>();
  return {address, static_cast<uint8_t>(any(0, 129))};
}

std::vector<Prefix> any_prefixes(size_t most) {
  std::vector<Prefix> prefixes(any<size_t>(1, most));
  for (Prefix& prefix : prefixes) prefix = any_prefix();
  return prefixes;
}

AsPath any_path(AsNumber first) {
  std::vector<AsSegment> segments{{AsSegment::Type::kSequence, {first}}};
  for (int i = any(0, 30); i > 0; --i) segments[0].numbers.push_back(any_as());
  if (any(0, 3) == 0) segments.push_back({AsSegment::Type::kSet, {any_as(), any_as()}});
  return AsPath(std::move(segments));
}

PathAttributes any_attributes(AsNumber first) {
  PathAttributes made;
  made.origin = static_cast<Origin>(any(0, 3));
  made.as_path = any_path(first);
  made.next_hop = *parse_address("2001:db8::7");
  if (any(0, 2) == 0) made.med = *rc::gen::arbitrary<uint32_t>();
  made.atomic_aggregate = any(0, 2) == 0;
  if (any(0, 2) == 0) made.aggregator = Aggregator{any_as(), {*rc::gen::arbitrary<uint32_t>()}};
  for (int i = any(0, 100); i > 0; --i) made.communities.push_back(*rc::gen::arbitrary<uint32_t>());
  for (int i = any(0, 40); i > 0; --i) {
    ExtendedCommunity community;
    for (uint8_t& octet : community.octets) octet = *rc::gen::arbitrary<uint8_t>();
    made.extended.push_back(community);
  }
  if (any(0, 2) == 0) {
    made.unknown.push_back(
        {0xE0, static_cast<uint8_t>(any(100, 200)), Octets(any<size_t>(0, 300), 7)});
  }
  return made;
}

OctetView body_in(const Octets& message) {
  const NextMessage next = next_message(message);
  RC_ASSERT(std::holds_alternative<FramedMessage>(next));
  RC_ASSERT(std::get<FramedMessage>(next).length == message.size());
  return std::get<FramedMessage>(next).body;
}

}  // namespace

TEST_CASE("any announcement is read back as it was written, from speakers of two octets as well") {
  CHECK(counterexample(
            [] {
              const bool four_octets = any(0, 2) == 0;
              const AsNumber first{any<uint32_t>(1, 65'536)};
              PathAttributes attributes = any_attributes(first);
              // AS4_AGGREGATOR is not merged: the number that fits is what remains.
              if (!four_octets) attributes.aggregator.reset();
              const std::vector<Prefix> prefixes = any_prefixes(600);
              std::vector<Octets> messages;
              encode_announcements(messages, encode_attributes(attributes, four_octets),
                                   attributes.next_hop, prefixes);
              std::vector<Prefix> read;
              for (const Octets& message : messages) {
                RC_ASSERT(message.size() <= kMaxBgpMessage);
                auto decoded = decode_update(body_in(message), {four_octets, first});
                RC_ASSERT(std::holds_alternative<Update>(decoded));
                const auto& update = std::get<Update>(decoded);
                RC_ASSERT(update.faults.empty());
                RC_ASSERT(*update.attributes == attributes);
                read.insert(read.end(), update.announced.begin(), update.announced.end());
              }
              RC_ASSERT(read == prefixes);
            },
            200) == "");
}

TEST_CASE("any OPEN and any filter are read back as they were written") {
  CHECK(
      counterexample(
          [] {
            OpenMessage open;
            open.as = any_as();
            open.hold_time = any(0, 2) == 0 ? 0 : any<uint16_t>(3, 65'535);
            open.router = {any<uint32_t>(3, 0xFFFF'FFFF)};
            open.capabilities = {true, any(0, 2) == 0, any(0, 2) == 0,
                                 static_cast<uint8_t>(any(0, 4)), open.as};
            const auto decoded = decode_open(body_in(encode_open(open)), {{0}, {1}, std::nullopt});
            RC_ASSERT(std::get<OpenMessage>(decoded) == open);

            RouteRefresh refresh;
            if (any(0, 4) != 0) {
              refresh.when = static_cast<RouteRefresh::When>(any(1, 3));
              for (int i = any(0, 128); i > 0; --i) {
                OrfEntry entry;
                entry.action = static_cast<OrfEntry::Action>(any(0, 3));
                if (entry.action != OrfEntry::Action::kRemoveAll) {
                  entry.permit = any(0, 2) == 0;
                  entry.sequence = *rc::gen::arbitrary<uint32_t>();
                  entry.prefix = any_prefix();
                  const uint8_t length = entry.prefix.length();
                  if (length < 128 && any(0, 2) == 0)
                    entry.max_length = any<uint8_t>(length + 1, 129);
                }
                refresh.entries.push_back(entry);
              }
            }
            RC_ASSERT(std::get<RouteRefresh>(decode_refresh(body_in(encode_refresh(refresh)))) ==
                      refresh);
          },
          300) == "");
}

TEST_CASE("any octets as bodies give a message or a notification of the right kind") {
  CHECK(counterexample(
            [] {
              const auto octets = *rc::gen::container<Octets>(rc::gen::arbitrary<uint8_t>());
              const auto update = decode_update(octets, {any(0, 2) == 0, {65001}});
              if (const auto* wrong = std::get_if<Notification>(&update))
                RC_ASSERT((wrong->code == ErrorCode::kUpdate));
              const auto open = decode_open(octets, {{1}, {1}, std::nullopt});
              if (const auto* wrong = std::get_if<Notification>(&open))
                RC_ASSERT((wrong->code == ErrorCode::kOpen));
              const auto refresh = decode_refresh(octets);
              if (const auto* wrong = std::get_if<Notification>(&refresh))
                RC_ASSERT((wrong->code == ErrorCode::kRouteRefresh));
            },
            2'000) == "");
}
