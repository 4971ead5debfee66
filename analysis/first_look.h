#pragma once
// What must be known of a capture file before it is read: whose time counts, and the format of its
// packets where they are not ours (format_sample.h).

#include <functional>
#include <memory>

#include "analysis/capture_reader.h"
#include "analysis/format_sample.h"

namespace mrclab::analysis {

using OpenCapture = std::function<std::unique_ptr<CaptureReader>(CaptureOptions)>;

struct FileKind {
  bool carried = false;  ///< its frames carry our trailer
  bool any = false;      ///< it has a record
  int64_t first_second = 0;
};

class FirstLook {
 public:
  /// `files`: so many will be looked at; the more, the less of each.
  FirstLook(FormatSample& sample, size_t files);
  FileKind at(const OpenCapture& open);

  /// Names the interface of a file, for PacketFacts.
  static uint32_t tap_of(uint32_t file, uint32_t interface) {
    return file << 16 | (interface & 0xFFFF);
  }

 private:
  FormatSample& sample_;
  uint64_t records_of_each_;
  uint32_t file_ = 0;
};

}  // namespace mrclab::analysis
