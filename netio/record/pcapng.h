#pragma once
// Writing pcapng (draft-ietf-opsawg-pcapng): one interface block per port, nanosecond fabric time,
// comments for trims, faults and drops. Read back by tshark and tcpdump in the tests.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/history/evidence_seal.h"
#include "fabric/node/node.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

/// What a capture file may take on disk by default.
inline constexpr uint64_t kCaptureBytesDefault = uint64_t{1} << 30;

struct PcapngOptions {
  uint32_t snap_length = 256;  ///< bytes kept of each frame
  /// Recording stops here and counts what it misses.
  uint64_t max_file_bytes = kCaptureBytesDefault;
  size_t buffer_bytes = 1 << 20;  ///< one write(2) per this much
  std::string application = "mrclab";
  std::string comment;  ///< comment of the section: which run this is
  /// What the records' times count from, in seconds since 1970; 0: they are fabric time.
  int64_t epoch_seconds = 0;
};

/// One packet to record.
struct PcapngRecord {
  uint32_t interface = 0;  ///< what add_interface returned
  FabricTime t;
  std::optional<Direction> direction = Direction::kIngress;  ///< empty: unknown
  std::span<const uint8_t> bytes;                            ///< cut to the snap length
  uint64_t original_length = 0;  ///< as modelled; 0: the length of `bytes`
  std::string_view comment;      ///< empty for none
};

/// A capture file. Any error (a full disk) throws SystemError, after the file has been cut back to
/// its last complete block. close() ends it with statistics and a seal, without which no reader
/// takes the capture for complete; the destructor ends it without a seal, silently.
class PcapngWriter {
 public:
  PcapngWriter(const std::filesystem::path& path, PcapngOptions options = {});
  /// Into what is open already, a pipe among others; `name` is for messages.
  PcapngWriter(FileDescriptor file, std::string name, PcapngOptions options);
  PcapngWriter(PcapngWriter&&) = default;
  ~PcapngWriter();

  /// May be called at any time before the interface is used.
  uint32_t add_interface(std::string_view name, std::string_view description = {});
  bool has_interfaces() const { return !interfaces_.empty(); }
  /// False when the file has reached its bound: counted, not written.
  bool write(const PcapngRecord& record);
  /// Everything so far is in the file.
  void flush();
  /// Ends the file with the statistics of each interface (seen, not recorded) and a seal in the
  /// last of them. `offered` has the nodes and the time of the offered frames; it is shortened to the
  /// first frame that found no room.
  void close(EvidenceSeal offered);

  const PcapngOptions& options() const { return options_; }
  uint64_t written() const { return written_; }
  uint64_t skipped() const { return skipped_; }
  uint64_t file_bytes() const { return file_bytes_ + buffer_.size(); }

 private:
  struct Interface {
    uint64_t seen = 0;
    uint64_t skipped = 0;
    FabricTime last;
  };
  void finish(const std::optional<EvidenceSeal>& seal);
  void put_statistics(uint32_t interface, const std::string& seal);
  void begin_block(uint32_t type);
  void end_block();
  void put16(uint16_t value);
  void put32(uint32_t value);
  void put64(uint64_t value);
  void put_padded(std::span<const uint8_t> bytes);
  void put_option(uint16_t code, std::span<const uint8_t> value);
  void put_option(uint16_t code, std::string_view value);
  void end_options() { put32(0); }

  std::string path_;
  PcapngOptions options_;
  FileDescriptor fd_;
  std::vector<uint8_t> buffer_;
  size_t block_start_ = 0;
  uint64_t file_bytes_ = 0;  ///< complete blocks in the file
  uint64_t written_ = 0;
  uint64_t skipped_ = 0;
  bool full_ = false;
  FabricTime complete_ = FabricTime::never();  ///< the earliest instant of a frame that is left out
  uint32_t checksum_ = 0;                      ///< CRC-32 of the bytes in the file
  std::vector<Interface> interfaces_;
};

}  // namespace mrclab::netio
