#pragma once

#include "endpoint/workload/workload_spec.h"

namespace mrclab::test {

inline constexpr endpoint::CollectiveKind kCollectiveKinds[] = {
    endpoint::CollectiveKind::kAllReduce, endpoint::CollectiveKind::kAllGather,
    endpoint::CollectiveKind::kReduceScatter, endpoint::CollectiveKind::kAllToAll,
    endpoint::CollectiveKind::kSendRecv};

}  // namespace mrclab::test
