#pragma once
// The pcapng block reader behind CaptureReader (draft-ietf-opsawg-pcapng). Any number of sections,
// each in its own byte order; section header, interface description, enhanced, simple and obsolete
// packet blocks are read, all others are skipped.

#include <memory>
#include <optional>

#include "analysis/capture/byte_source.h"
#include "analysis/capture/capture_reader.h"

namespace mrclab::analysis {

class PcapngReader final : public CaptureReader {
 public:
  /// `name` is for error messages.
  PcapngReader(std::unique_ptr<ByteSource> source, std::string name, CaptureOptions options);
  [[gnu::flatten]] bool read_next(CaptureRecord& record) override;

  /// Do these bytes start like a pcapng file?
  static bool recognizes(std::span<const uint8_t> bytes);

 private:
  /// What packets need of their interface beside CaptureInterface.
  struct InterfaceUse {
    uint32_t snap_length = 0;
    uint64_t ps_per_unit = 0;  ///< picoseconds per unit of its timestamps; 0: not a whole number
  };
  struct Option {
    uint16_t code = 0;
    std::span<const uint8_t> value;
  };
  enum class Step : uint8_t { kRecord, kSkipped };

  uint16_t u16(const uint8_t* p) const;
  uint32_t u32(const uint8_t* p) const;
  uint64_t u64(const uint8_t* p) const;
  [[noreturn]] void fail(const std::string& what) const;

  std::span<const uint8_t> next_block(uint32_t& type);  // empty at the end of the file
  void start_section(std::span<const uint8_t> first_bytes);
  void read_seal(std::span<const uint8_t> statistics);
  void describe_interface(std::span<const uint8_t> body);
  void read_interface_option(const Option& option, CaptureInterface& interface) const;
  /// An enhanced packet block, or the obsolete one, whose interface is shorter and whose options are not read.
  Step timed_packet(std::span<const uint8_t> body, bool enhanced, CaptureRecord& record);
  Step simple_packet(std::span<const uint8_t> body, CaptureRecord& record);
  Step packet_at(uint32_t section_interface, uint64_t units, CaptureRecord& record);
  bool read_packet_options(std::span<const uint8_t> options, CaptureRecord& record);
  // Takes one option off the front; false at the end or when the rest is malformed.
  bool next_option(std::span<const uint8_t>& options, Option& option, bool& malformed) const;
  std::optional<FabricTime> to_fabric_time(uint32_t interface, uint64_t units);

  std::unique_ptr<ByteSource> source_;
  std::string name_;
  bool swapped_ = false;
  size_t section_first_interface_ = 0;
  size_t pending_skip_ = 0;
  std::vector<InterfaceUse> interface_uses_;  // like interfaces()
  bool wants_seal_;
};

}  // namespace mrclab::analysis
