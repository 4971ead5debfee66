#include "analysis/capture/pcapng_reader.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "fabric/text/visible_text.h"

namespace mrclab::analysis {
namespace {

// Block types and option codes of draft-ietf-opsawg-pcapng §4.
constexpr uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr uint32_t kInterfaceDescription = 1;
constexpr uint32_t kObsoletePacket = 2;
constexpr uint32_t kSimplePacket = 3;
constexpr uint32_t kInterfaceStatistics = 5;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint16_t kEndOfOptions = 0;
constexpr uint16_t kComment = 1;
constexpr uint16_t kInterfaceName = 2;
constexpr uint16_t kTimeResolution = 9;
constexpr uint16_t kTimeOffset = 14;
constexpr uint16_t kPacketFlags = 2;
constexpr uint16_t kSpeed = 8;  // if_speed, in bits per second

constexpr size_t kBlockFrame = 12;  // type, length, length again
constexpr uint64_t kPsPerSecond = 1'000'000'000'000;

size_t padded(size_t size) { return (size + 3) & ~size_t{3}; }

/// if_tsresol: a power of ten, or of two when the highest bit is set. Zero if not representable.
uint64_t units_per_second(uint8_t resolution) {
  const unsigned exponent = resolution & 0x7F;
  if ((resolution & 0x80) != 0) return exponent < 64 ? uint64_t{1} << exponent : 0;
  if (exponent > 19) return 0;
  uint64_t units = 1;
  for (unsigned i = 0; i < exponent; ++i) units *= 10;
  return units;
}

CaptureDirection direction_of(uint32_t flags) {
  switch (flags & 3) {
    case 1: return CaptureDirection::kInbound;
    case 2: return CaptureDirection::kOutbound;
    default: return CaptureDirection::kUnknown;
  }
}

}  // namespace

PcapngReader::PcapngReader(std::unique_ptr<ByteSource> source, std::string name,
                           CaptureOptions options)
    : CaptureReader(options),
      source_(std::move(source)),
      name_(std::move(name)),
      wants_seal_(options.wants_seal) {
  if (wants_seal_) source_->keep_checksum();
  if (!recognizes(source_->peek(kBlockFrame))) fail("this is no pcapng file");
}

bool PcapngReader::recognizes(std::span<const uint8_t> bytes) {
  if (bytes.size() < kBlockFrame) return false;
  uint32_t type = 0, magic = 0;
  std::memcpy(&type, bytes.data(), 4);
  std::memcpy(&magic, bytes.data() + 8, 4);
  return type == kSectionHeader &&
         (magic == kByteOrderMagic || magic == __builtin_bswap32(kByteOrderMagic));
}

uint16_t PcapngReader::u16(const uint8_t* p) const {
  uint16_t value;
  std::memcpy(&value, p, sizeof value);
  return swapped_ ? __builtin_bswap16(value) : value;
}

uint32_t PcapngReader::u32(const uint8_t* p) const {
  uint32_t value;
  std::memcpy(&value, p, sizeof value);
  return swapped_ ? __builtin_bswap32(value) : value;
}

uint64_t PcapngReader::u64(const uint8_t* p) const {
  uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return swapped_ ? __builtin_bswap64(value) : value;
}

void PcapngReader::fail(const std::string& what) const {
  throw CaptureError("reading " + name_ + ": " + what + " at byte " +
                     std::to_string(source_->position()));
}

void PcapngReader::start_section(std::span<const uint8_t> first_bytes) {
  // The type reads the same in both byte orders; the magic number has the order.
  uint32_t magic = 0;
  std::memcpy(&magic, first_bytes.data() + 8, 4);
  if (magic != kByteOrderMagic && magic != __builtin_bswap32(kByteOrderMagic)) {
    fail("section header without byte-order magic");
  }
  swapped_ = magic != kByteOrderMagic;
  section_first_interface_ = interfaces_.size();
}

std::span<const uint8_t> PcapngReader::next_block(uint32_t& type) {
  source_->skip(pending_skip_);
  pending_skip_ = 0;
  const std::span<const uint8_t> head = source_->peek(kBlockFrame);
  // What was read in front of the place is whole, so it is taken first.
  if (source_->failed() && head.size() < kBlockFrame) {
    fail("damaged compressed data, bytes behind its end, or a read error");
  }
  if (head.empty()) return {};
  if (head.size() < kBlockFrame) fail("cut off in a block header");
  type = u32(head.data());
  if (type == kSectionHeader) start_section(head);
  const size_t length = u32(head.data() + 4);
  if (length < kBlockFrame || length % 4 != 0) {
    fail("block length " + std::to_string(length) + " is not possible");
  }
  if (length > kMaxBlockBytes) fail("block of " + std::to_string(length) + " bytes is too long");
  const std::span<const uint8_t> block = head.size() < length ? source_->peek(length) : head;
  if (block.size() < length) fail("cut off in a block of " + std::to_string(length) + " bytes");
  if (u32(block.data() + length - 4) != length) fail("the two lengths of a block differ");
  pending_skip_ = length;
  return block.subspan(0, length);
}

bool PcapngReader::read_next(CaptureRecord& record) {
  for (;;) {
    uint32_t type = 0;
    const std::span<const uint8_t> block = next_block(type);
    if (block.empty()) return false;
    seal_.reset();  // it was not the last block
    const std::span<const uint8_t> body = block.subspan(8, block.size() - kBlockFrame);
    Step step = Step::kSkipped;
    switch (type) {
      case kSectionHeader: break;
      case kInterfaceDescription: describe_interface(body); break;
      case kEnhancedPacket: step = timed_packet(body, true, record); break;
      case kSimplePacket: step = simple_packet(body, record); break;
      case kInterfaceStatistics: read_seal(body); break;
      case kObsoletePacket: step = timed_packet(body, false, record); break;
      default: ++counters_.unknown_blocks;
    }
    if (step == Step::kRecord) {
      ++counters_.records;
      return true;
    }
  }
}

bool PcapngReader::next_option(std::span<const uint8_t>& options, Option& option,
                               bool& malformed) const {
  if (options.empty()) return false;
  malformed = true;
  if (options.size() < 4) return false;
  option.code = u16(options.data());
  const size_t length = u16(options.data() + 2);
  if (padded(length) > options.size() - 4) return false;
  malformed = false;
  option.value = options.subspan(4, length);
  options = options.subspan(4 + padded(length));
  return option.code != kEndOfOptions;
}

/// A block of statistics may have comments of any writer; the one that parses as our seal is it.
void PcapngReader::read_seal(std::span<const uint8_t> statistics) {
  constexpr size_t kFixed = 12;  // interface and time
  if (!wants_seal_ || statistics.size() < kFixed) return;
  Option option;
  bool malformed = false;
  std::span<const uint8_t> options = statistics.subspan(kFixed);
  while (!seal_ && next_option(options, option, malformed)) {
    if (option.code != kComment) continue;
    seal_ = parse_seal({reinterpret_cast<const char*>(option.value.data()), option.value.size()},
                       source_->checksum_of_skipped());  // which ends before this block
  }
}

void PcapngReader::describe_interface(std::span<const uint8_t> body) {
  if (interfaces_.size() >= kMaxInterfaces) fail("more interfaces than can be handled");
  CaptureInterface interface;
  InterfaceUse use;
  bool malformed = body.size() < 8;
  if (!malformed) {
    interface.link_type = u16(body.data());
    use.snap_length = u32(body.data() + 4);
    Option option;
    std::span<const uint8_t> options = body.subspan(8);
    while (next_option(options, option, malformed)) read_interface_option(option, interface);
  }
  // A malformed description still takes its number, or all later packets would be misattributed.
  if (malformed) ++counters_.malformed_blocks;
  const uint64_t per_second = interface.units_per_second;
  if (per_second > 0 && kPsPerSecond % per_second == 0) use.ps_per_unit = kPsPerSecond / per_second;
  interfaces_.push_back(std::move(interface));
  interface_uses_.push_back(use);
}

void PcapngReader::read_interface_option(const Option& option, CaptureInterface& interface) const {
  if (option.code == kInterfaceName) {
    const size_t size = std::min(option.value.size(), kMaxNameBytes);
    interface.name = visible({reinterpret_cast<const char*>(option.value.data()), size});
  } else if (option.code == kTimeResolution && option.value.size() == 1) {
    interface.units_per_second = units_per_second(option.value[0]);
  } else if (option.code == kSpeed && option.value.size() == 8) {
    interface.bits_per_second = u64(option.value.data());
  } else if (option.code == kTimeOffset && option.value.size() == 8) {
    interface.offset_seconds = static_cast<int64_t>(u64(option.value.data()));
  }
}

std::optional<FabricTime> PcapngReader::to_fabric_time(uint32_t number, uint64_t units) {
  const CaptureInterface& interface = interfaces_[number];
  const uint64_t per_second = interface.units_per_second;
  if (per_second == 0) return std::nullopt;
  __extension__ using SignedWide = __int128;
  if (!base_known()) {
    const SignedWide seconds = SignedWide{units / per_second} + interface.offset_seconds;
    learn_base(static_cast<int64_t>(std::clamp<SignedWide>(
        seconds, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max())));
  }
  const uint64_t ps_per_unit = interface_uses_[number].ps_per_unit;
  SignedWide ps = (SignedWide{interface.offset_seconds} - base_seconds()) * kPsPerSecond;
  if (ps_per_unit > 0) {
    ps += SignedWide{units} * ps_per_unit;  // no division, which would cost as much as all else
  } else {
    ps += SignedWide{units / per_second} * kPsPerSecond +
          SignedWide{units % per_second} * kPsPerSecond / per_second;
  }
  if (ps < 0 || ps >= SignedWide{FabricTime::never().ps()}) return std::nullopt;
  return FabricTime::from_ps(static_cast<int64_t>(ps));
}

PcapngReader::Step PcapngReader::packet_at(uint32_t section_interface, uint64_t units,
                                           CaptureRecord& record) {
  if (section_interface >= interfaces_.size() - section_first_interface_) {
    ++counters_.unknown_interface;
    return Step::kSkipped;
  }
  record.interface = static_cast<uint32_t>(section_first_interface_ + section_interface);
  const std::optional<FabricTime> t = to_fabric_time(record.interface, units);
  if (!t) {
    ++counters_.time_out_of_range;
    return Step::kSkipped;
  }
  record.t = *t;
  return Step::kRecord;
}

bool PcapngReader::read_packet_options(std::span<const uint8_t> options, CaptureRecord& record) {
  Option option;
  bool malformed = false;
  while (next_option(options, option, malformed)) {
    if (option.code == kComment && record.comment.empty()) {
      record.comment = {reinterpret_cast<const char*>(option.value.data()), option.value.size()};
    } else if (option.code == kPacketFlags && option.value.size() == 4) {
      record.direction = direction_of(u32(option.value.data()));
    }
  }
  return !malformed;
}

PcapngReader::Step PcapngReader::timed_packet(std::span<const uint8_t> body, bool enhanced,
                                              CaptureRecord& record) {
  constexpr size_t kFixed = 20;
  const size_t captured = body.size() < kFixed ? 0 : u32(body.data() + 12);
  const size_t kept = enhanced ? padded(captured) : captured;
  if (body.size() < kFixed || kept > body.size() - kFixed) {
    ++counters_.malformed_blocks;
    return Step::kSkipped;
  }
  record.bytes = body.subspan(kFixed, captured);
  record.original_length = u32(body.data() + 16);
  record.direction = CaptureDirection::kUnknown;
  record.comment = {};
  if (enhanced && !read_packet_options(body.subspan(kFixed + kept), record)) {
    ++counters_.malformed_blocks;
    return Step::kSkipped;
  }
  const uint64_t units = uint64_t{u32(body.data() + 4)} << 32 | u32(body.data() + 8);
  return packet_at(enhanced ? u32(body.data()) : u16(body.data()), units, record);
}

PcapngReader::Step PcapngReader::simple_packet(std::span<const uint8_t> body,
                                               CaptureRecord& record) {
  if (body.size() < 4 || interfaces_.size() == section_first_interface_) {
    ++(body.size() < 4 ? counters_.malformed_blocks : counters_.unknown_interface);
    return Step::kSkipped;
  }
  record.original_length = u32(body.data());
  const uint32_t snap = interface_uses_[section_first_interface_].snap_length;
  const size_t captured =
      snap == 0 ? record.original_length : std::min(record.original_length, snap);
  record.bytes = body.subspan(4, std::min<size_t>(captured, body.size() - 4));
  record.direction = CaptureDirection::kUnknown;
  record.comment = {};
  return packet_at(0, 0, record);  // a simple packet block has no time
}

}  // namespace mrclab::analysis
