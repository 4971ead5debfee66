#include "fabric/packet/drop_kind.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace mrclab;

TEST_CASE(
    "a queue's drop is congestion, a NIC's refusal no loss, and every other drop says what is "
    "broken") {
  const std::set<std::string_view> congested{"queue_full", "control_queue_full",
                                             "trimmed_queue_full", "no_buffer", "pause_storm"};
  const std::set<std::string_view> refused{"receive_buffer_full", "no_bitmap", "out_of_order",
                                           "not_ready"};
  const std::set<std::string_view> denied{"not_authorised", "not_authorised_source",
                                          "not_authorised_tenant"};
  for (size_t i = 0; i < kDropCauses; ++i) {
    const auto cause = static_cast<DropCause>(i);
    CAPTURE(name_of(cause));
    CHECK((drop_kind(cause) == DropKind::kNone) == (cause == DropCause::kNone));
    CHECK((drop_kind(cause) == DropKind::kCongested) == congested.contains(name_of(cause)));
    CHECK((drop_kind(cause) == DropKind::kRefused) == refused.contains(name_of(cause)));
    CHECK((drop_kind(cause) == DropKind::kDenied) == denied.contains(name_of(cause)));
  }
}
