#pragma once
// What is found out about a capture file before it is read: whether the file's own times
// count or those in our trailers, and the format of packets that another implementation made
// (format_sample.h).

#include <functional>
#include <memory>

#include "analysis/capture/capture_reader.h"
#include "analysis/traffic/format_sample.h"

namespace mrclab::analysis {

using OpenCapture = std::function<std::unique_ptr<CaptureReader>(CaptureOptions)>;

struct FileKind {
  bool carried = false;  ///< its frames carry our trailer
  bool any = false;      ///< it has a record
  int64_t first_second = 0;
};

class FirstLook {
 public:
  /// `files`: how many files will be looked at. They share a budget, so many files get short looks.
  FirstLook(FormatSample& sample, size_t files);
  FileKind at(const OpenCapture& open);

  /// One number for an interface of a file, as PacketFacts::tap has it.
  static uint32_t tap_of(uint32_t file, uint32_t interface) {
    return file << 16 | (interface & 0xFFFF);
  }

 private:
  FormatSample& sample_;
  uint64_t records_of_each_;
  uint32_t file_ = 0;
};

}  // namespace mrclab::analysis
