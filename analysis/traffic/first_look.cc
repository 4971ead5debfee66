#include "analysis/traffic/first_look.h"

#include <algorithm>

#include "analysis/capture/cut_frame.h"
#include "analysis/capture/link_layer.h"
#include "analysis/frame/seen_headers.h"
#include "analysis/traffic/roce_port.h"

namespace mrclab::analysis {
namespace {

/// Records that are searched for a trailer with our time; more than any daemon writes in a tick.
constexpr uint64_t kProbedRecords = 1024;
/// If some of those were made by another implementation, this many records of a file (and of all
/// files together) are sampled to learn its format.
constexpr uint64_t kSampledRecords = 1u << 16, kSampledOfAll = 1u << 18;

}  // namespace

FirstLook::FirstLook(FormatSample& sample, size_t files)
    : sample_(sample),
      records_of_each_(std::clamp(kSampledOfAll / std::max<uint64_t>(files, 1), kProbedRecords,
                                  kSampledRecords)) {}

FileKind FirstLook::at(const OpenCapture& open) {
  const std::unique_ptr<CaptureReader> reader = open({.rebase = true, .wants_seal = false});
  FileKind kind;
  CaptureRecord record;
  uint64_t with = 0, without = 0;
  LinkLayer link;
  MrcPacket packet;
  std::vector<uint8_t> with_checksum;
  try {
    for (uint64_t i = 0; reader->next(record); ++i) {
      if (i >= records_of_each_ || (i >= kProbedRecords && !sample_.any_foreign())) {
        sample_.set_cut();
        break;
      }
      kind.any = true;
      WireEnd end = WireEnd::kUnknown;
      const uint16_t type = reader->interfaces()[record.interface].link_type;
      const auto frame = link.as_ethernet(record, type, end);
      if (!frame) break;
      const bool carried = trailer_of(*frame).has_value();
      const bool fixed = ip_checksum_of(*frame) != IpChecksum::kRight;
      const bool mrc = parse_cut_frame(fixed ? with_ip_checksum(*frame, with_checksum) : *frame,
                                       packet) == ParseError::kNone;
      if (mrc && !is_rc(packet.bth.opcode))
        sample_.sample_packet(packet, tap_of(file_, record.interface), end, carried);
      if (i < kProbedRecords && (carried || mrc)) ++(carried ? with : without);
    }
  } catch (const CaptureError&) {
    // The reading that follows meets the same error and reports it.
  }
  ++file_;
  kind.first_second = reader->base_seconds();
  kind.carried = with > without;
  return kind;
}

}  // namespace mrclab::analysis
