#include "endpoint/base/connection_attributes.h"

#include <doctest/doctest.h>

#include "endpoint/options/profile_maker.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {

ConnectionAttributes offer() { return offer_of(make_profile("lab", test::octet())); }

ConnectionLimits agreed(const ConnectionAttributes& mine, const ConnectionAttributes& theirs) {
  const auto result = negotiate(mine, theirs);
  REQUIRE(std::holds_alternative<ConnectionLimits>(result));
  return std::get<ConnectionLimits>(result);
}

}  // namespace

TEST_CASE("two ends with the profile's offer have its limits in both directions") {
  const ConnectionLimits limits = agreed(offer(), offer());
  CHECK(limits.sending == limits.receiving);
  CHECK(limits.sending.max_psn_range == 1024);
  CHECK(limits.sending.max_immediates == 32);
  CHECK(!limits.sending.dynamic_mpr);
  CHECK(limits.sending.trim_nack);
  CHECK(limits == limits_of(make_profile("lab", test::octet())));
  CHECK(limits.retry.ack_timeout == test::octet().base_rtt * 8);
  CHECK(limits.retry.limit() == 10);
}

TEST_CASE("a sender keeps to the smaller of its own wish and what the destination can take") {
  ConnectionAttributes mine = offer(), theirs = offer();
  mine.mpr = 32;
  theirs.mpr_dest = 16;
  mine.max_wimm = 4;
  theirs.max_wimm = 100;
  mine.max_wimm_dest = 8;
  const ConnectionLimits here = agreed(mine, theirs);
  CHECK(here.sending.max_psn_range == 16 * 128);
  CHECK(here.receiving.max_psn_range == 8 * 128);
  CHECK(here.sending.max_immediates == 4);
  CHECK(here.receiving.max_immediates == 8);
  const ConnectionLimits there = agreed(theirs, mine);
  CHECK(there.sending == here.receiving);
  CHECK(there.receiving == here.sending);
}

TEST_CASE("dynamic MPR needs both ends, trim NACKs and service times count per direction") {
  ConnectionAttributes mine = offer(), theirs = offer();
  mine.dynamic_mpr = true;
  theirs.trim_nack.as_responder = false;
  mine.service_time.as_requester = true;
  theirs.service_time.as_responder = true;
  ConnectionLimits limits = agreed(mine, theirs);
  CHECK(!limits.sending.dynamic_mpr);
  CHECK(!limits.sending.trim_nack);
  CHECK(limits.receiving.trim_nack);
  CHECK(limits.sending.service_time);
  CHECK(!limits.receiving.service_time);
  theirs.dynamic_mpr = true;
  limits = agreed(mine, theirs);
  CHECK(limits.sending.dynamic_mpr);
  CHECK(limits.receiving.dynamic_mpr);
}

TEST_CASE("what cannot be connected is refused with a reason that names the value") {
  const auto reason = [](auto change_mine, auto change_theirs) {
    ConnectionAttributes mine = offer(), theirs = offer();
    change_mine(mine);
    change_theirs(theirs);
    const auto result = negotiate(mine, theirs);
    return std::holds_alternative<std::string>(result) ? std::get<std::string>(result) : "";
  };
  const auto same = [](ConnectionAttributes&) {};
  CHECK(reason(same, same).empty());
  CHECK(reason(same, [](auto& a) { a.protocol_version = 2; }) ==
        "the peer's protocol version is 2, not 1 to 1");
  CHECK(reason(same, [](auto& a) { a.mpr_dest = 0; }) == "the peer's mpr_dest is 0, not 1 to 255");
  CHECK(reason([](auto& a) { a.mpr = 256; }, same) == "our mpr is 256, not 1 to 255");
  CHECK(reason([](auto& a) { a.max_wimm = 0x8000; }, same) ==
        "our max_wimm is 32768, not 0 to 32767");
  CHECK(reason(same, [](auto& a) { a.max_wimm_dest = 0x8000; }) ==
        "the peer's max_wimm_dest is 32768, not 0 to 32767");
  CHECK(reason([](auto& a) { a.retry.ack_timeout = {}; }, same) ==
        "our ACK timeout is not above 0");
  CHECK(reason([](auto& a) { a.retry.linear_retries = 8; }, same) ==
        "our number of linear retries is 8, not 0 to 7");
  CHECK(reason([](auto& a) { a.retry.exponential_retries = 26; }, same) ==
        "our number of exponential retries is 26, not 0 to 25");
  // The peer's patience is its own affair.
  CHECK(reason(same, [](auto& a) { a.retry.linear_retries = 8; }).empty());
}
