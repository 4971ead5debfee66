#pragma once
// Records of a packet capture, whatever its format; open_capture.h has the formats that there are.
//
// Hostile files: any bytes at all give records, counted skips or a CaptureError; never more memory
// than kMaxBlockBytes and kMaxInterfaces allow. Records come in file order; sort where time
// matters.

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/capture/bundled_records.h"
#include "analysis/capture/capture_record.h"
#include "fabric/base/units.h"
#include "fabric/history/evidence_seal.h"

namespace mrclab::analysis {

inline constexpr size_t kMaxBlockBytes = 1u << 20;  ///< a longer pcapng block is an error
inline constexpr size_t kMaxInterfaces = 1u << 16;  ///< in one file, over all its sections
inline constexpr size_t kMaxNameBytes = 256;        ///< interface names are cut here

/// A file that cannot be read (further). what() names the file, the place and the reason.
class CaptureError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One interface description block, or the one interface of a classic pcap (named after its file).
struct CaptureInterface {
  std::string name;
  uint16_t link_type = 0;
  uint64_t units_per_second = 1'000'000;  ///< if_tsresol
  int64_t offset_seconds = 0;             ///< if_tsoffset
  uint64_t bits_per_second = 0;           ///< if_speed; 0: not stated
};

struct CaptureCounters {
  uint64_t records = 0;
  uint64_t unknown_blocks = 0;     ///< block types that hold no packets; skipped as the draft asks
  uint64_t malformed_blocks = 0;   ///< skipped: the body contradicts itself
  uint64_t unknown_interface = 0;  ///< skipped: a packet of an interface that was not described
  uint64_t time_out_of_range = 0;  ///< skipped: not representable as FabricTime
  uint64_t skipped() const { return malformed_blocks + unknown_interface + time_out_of_range; }
};

struct CaptureOptions {
  /// Subtract the whole seconds of the first record, for captures in wall-clock time.
  bool rebase = false;
  /// Subtract these instead: a common base of several files. Earlier records are out of range.
  std::optional<int64_t> base_seconds = std::nullopt;
  /// Whether seal() will be asked for: it takes a checksum of the whole file.
  bool wants_seal = true;
};

/// Streams the records of one file, which open_capture() opens. Not thread-safe.
class CaptureReader {
 public:
  virtual ~CaptureReader() = default;

  /// The next record; false at the end. A bundle (fabric/packet/bundle.h) gives one for each of its frames. Throws
  /// CaptureError where a file is cut or broken so that nothing behind can be found.
  bool next(CaptureRecord& record) {
    if (bundled_.next(record)) return true;
    if (!read_next(record)) return false;
    bundled_.take_apart(record, interfaces_[record.interface].link_type);
    return true;
  }

  /// Grows while reading; an index stays valid.
  const std::vector<CaptureInterface>& interfaces() const { return interfaces_; }
  const CaptureCounters& counters() const { return counters_; }
  /// The seconds that are subtracted from every time. With `rebase` they are
  /// known once the first record has been read.
  int64_t base_seconds() const { return base_seconds_; }
  /// Whose frames the file holds, from when to when; known when the last record has been read.
  /// Empty if the file has no seal, or a seal that does not fit its bytes, or if none was asked for.
  const std::optional<EvidenceSeal>& seal() const { return seal_; }

 protected:
  /// The next record of the file, as next(); its interface has been described.
  virtual bool read_next(CaptureRecord& record) = 0;
  /// To be called with the whole seconds of every record.
  void learn_base(int64_t seconds) {
    if (base_known_) return;
    base_known_ = true;
    base_seconds_ = options_.base_seconds.value_or(options_.rebase ? seconds : 0);
  }
  bool base_known() const { return base_known_; }
  explicit CaptureReader(CaptureOptions options) : options_(options) {}

  std::vector<CaptureInterface> interfaces_;
  CaptureCounters counters_;
  std::optional<EvidenceSeal> seal_;

 private:
  BundledRecords bundled_;
  CaptureOptions options_;
  bool base_known_ = false;
  int64_t base_seconds_ = 0;
};

}  // namespace mrclab::analysis
