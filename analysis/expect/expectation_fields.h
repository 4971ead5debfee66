#pragma once
// What reading and writing of an `expect:` list is made from, out of the structs of all families.

#include <array>
#include <string_view>
#include <type_traits>

#include "analysis/expect/expect_goodput.h"
#include "analysis/expect/expect_jobs.h"
#include "analysis/expect/expect_mapper.h"
#include "analysis/expect/expect_serve.h"
#include "analysis/expect/expect_times.h"
#include "analysis/expect/expectation_parts.h"
#include "fabric/text/enum_words.h"

namespace mrclab::analysis {

inline constexpr auto kFairnessWords = words_by_value<FairnessMeasure>(
    {{FairnessMeasure::kJain, "jain"}, {FairnessMeasure::kMinOverMax, "min_over_max"}});

inline constexpr auto kMessageTimeWords =
    words_by_value<MessageTimeMeasure>({{MessageTimeMeasure::kMax, "max"},
                                        {MessageTimeMeasure::kP999, "p99.9"},
                                        {MessageTimeMeasure::kP99, "p99"},
                                        {MessageTimeMeasure::kP50, "p50"}});

inline constexpr auto kStepReferenceWords =
    words_by_value<StepReference>({{StepReference::kRoofline, "roofline"},
                                   {StepReference::kMedian, "median"},
                                   {StepReference::kBaseline, "baseline"}});

inline constexpr auto kServePartWords =
    words_by_value<ServePart>({{ServePart::kWhole, "whole"}, {ServePart::kFabric, "fabric"}});

inline constexpr int64_t kMostCounted = 1'000'000'000;
inline constexpr int64_t kMostPlanes =
    255;  ///< an EV has 8 bits for it (fabric/topology/ev_path.h)

/// visit(name, member, need) for each field, in the order of writing; `e` may be const.
template <class E, class Visit>
void for_each_field(E& e, Visit&& visit) {
  if constexpr (requires { std::remove_const_t<E>::fields(e, visit); }) {
    std::remove_const_t<E>::fields(e, visit);
  }
}

}  // namespace mrclab::analysis
