#pragma once
// Takes the bundles in a capture (fabric/packet/bundle.h) apart. Daemons send frames one by one where they have noticed a
// listener; until then its file may have a bundle in one record.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/capture/capture_record.h"

namespace mrclab::analysis {

class BundledRecords {
 public:
  /// If `record` is a bundle, makes its first frame of it; next() has the others. Anything else stays as it is, also
  /// a bundle whose lengths contradict each other, and one inside another.
  void take_apart(CaptureRecord& record, uint16_t link_type) {
    if (record.bytes.size() > kShortest) take_long_apart(record, link_type);
  }
  /// The next frame of the bundle that was taken apart last, as a record of its own with the same link header; false
  /// if there is no other. What a capture has cut off is missing.
  bool next(CaptureRecord& record) { return !rest_.empty() && take_next(record); }

 private:
  static constexpr size_t kShortest = 54;  // link header, IPv6 header
  void take_long_apart(CaptureRecord& record, uint16_t link_type);
  bool take_next(CaptureRecord& record);

  CaptureRecord bundle_;
  std::vector<uint8_t>
      link_header_;  ///< in front of each frame in place of its Ethernet header; empty: that stays
  size_t ethertype_at_ = 0;  ///< in link_header_
  std::vector<uint8_t> frame_;
  std::span<const uint8_t>
      rest_;  ///< the lengths and frames in bundle_.bytes that take_next() has not returned
};

}  // namespace mrclab::analysis
