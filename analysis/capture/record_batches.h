#pragma once
// The records of a capture, read a batch ahead of whoever looks at them, on another core where there is one.

#include <functional>
#include <span>
#include <vector>

#include "analysis/capture/capture_reader.h"
#include "analysis/capture/side_by_side.h"

namespace mrclab::analysis {

/// What to do with a record; the interfaces are those that were described up to it, and perhaps more.
using TakeRecord =
    std::function<void(const CaptureRecord& record, std::span<const CaptureInterface> interfaces)>;

/// Calls `take` for each record in turn. Throws the reader's CaptureError when all before it are taken.
/// Keeps two batches of at most kBatchBytes of frames, and kBatchRecords; without `side_by_side` none.
void for_each_record(CaptureReader& reader, const SideBySide& side_by_side, const TakeRecord& take);

inline constexpr size_t kBatchBytes = 1u << 24, kBatchRecords = 1u << 16;

}  // namespace mrclab::analysis
