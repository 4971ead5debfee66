#include "netio/record/pcapng.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "netio/system/output_folder.h"

namespace mrclab::netio {
namespace {

// draft-ietf-opsawg-pcapng: block types (§10.1), option codes (§3.5, §4.1, §4.2, §4.3, §4.6).
constexpr uint32_t kSectionHeader = 0x0A0D0D0A, kByteOrderMagic = 0x1A2B3C4D;
constexpr uint32_t kInterfaceDescription = 1, kInterfaceStatistics = 5, kEnhancedPacket = 6;
constexpr uint16_t kOptComment = 1;
constexpr uint16_t kShbUserAppl = 4;
constexpr uint16_t kIfName = 2, kIfDescription = 3, kIfTsresol = 9, kIfTsoffset = 14;
constexpr uint16_t kEpbFlags = 2;
constexpr uint16_t kIsbIfRecv = 4, kIsbIfDrop = 5;
constexpr uint16_t kLinkTypeEthernet = 1;
constexpr uint8_t kNanoseconds = 9;  // 10^-9
/// Kept free under the file's bound for each interface, so that the closing statistics always fit,
/// and for the seal. The seal names nodes, of which there are no more than interfaces.
constexpr uint64_t kStatisticsBytes = 144, kSealBytes = 160;
constexpr size_t kMaxComment = 1024;

std::span<const uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}
constexpr size_t padded(size_t size) { return (size + 3) & ~size_t{3}; }

}  // namespace

PcapngWriter::PcapngWriter(const std::filesystem::path& path, PcapngOptions options)
    : PcapngWriter(create_file(path), path.string(), std::move(options)) {}

PcapngWriter::PcapngWriter(FileDescriptor file, std::string name, PcapngOptions options)
    : path_(std::move(name)), options_(std::move(options)), fd_(std::move(file)) {
  buffer_.reserve(options_.buffer_bytes + (128 << 10));
  begin_block(kSectionHeader);
  put32(kByteOrderMagic);
  put16(1);
  put16(0);
  put64(~uint64_t{0});  // section length: unspecified
  if (!options_.comment.empty()) put_option(kOptComment, options_.comment);
  put_option(kShbUserAppl, options_.application);
  end_options();
  end_block();
  flush();
}

PcapngWriter::~PcapngWriter() {
  try {
    finish(std::nullopt);
  } catch (const SystemError&) {
    // close() reports; a destructor cannot.
  }
}

uint32_t PcapngWriter::add_interface(std::string_view name, std::string_view description) {
  begin_block(kInterfaceDescription);
  put16(kLinkTypeEthernet);
  put16(0);
  put32(options_.snap_length);
  put_option(kIfName, name);
  if (!description.empty()) put_option(kIfDescription, description);
  put_option(kIfTsresol, std::span(&kNanoseconds, 1));
  if (options_.epoch_seconds != 0) {
    std::array<uint8_t, 8> seconds;  // in the byte order of the section, as all numbers
    std::memcpy(seconds.data(), &options_.epoch_seconds, seconds.size());
    put_option(kIfTsoffset, seconds);
  }
  end_options();
  end_block();
  interfaces_.emplace_back();
  return static_cast<uint32_t>(interfaces_.size() - 1);
}

bool PcapngWriter::write(const PcapngRecord& record) {
  Interface& interface = interfaces_.at(record.interface);
  ++interface.seen;
  interface.last = std::max(interface.last, record.t);
  const auto data = record.bytes.first(std::min<size_t>(record.bytes.size(), options_.snap_length));
  const std::string_view comment = record.comment.substr(0, kMaxComment);
  const uint64_t block =
      32 + padded(data.size()) + 8 + 4 + (comment.empty() ? 0 : 4 + padded(comment.size()));
  const uint64_t reserve = kStatisticsBytes * interfaces_.size() + kSealBytes;
  if (full_ || file_bytes() + block + reserve > options_.max_file_bytes) {
    full_ = true;  // stays so: a capture with holes would mislead
    complete_ = std::min(complete_, record.t);
    ++interface.skipped;
    ++skipped_;
    return false;
  }
  const auto ns = static_cast<uint64_t>(record.t.ns());
  begin_block(kEnhancedPacket);
  put32(record.interface);
  put32(static_cast<uint32_t>(ns >> 32));
  put32(static_cast<uint32_t>(ns));
  put32(static_cast<uint32_t>(data.size()));
  put32(static_cast<uint32_t>(std::max<uint64_t>(record.original_length, record.bytes.size())));
  put_padded(data);
  if (!comment.empty()) put_option(kOptComment, comment);
  if (record.direction) {
    put16(kEpbFlags);
    put16(4);
    put32(*record.direction == Direction::kIngress ? 1 : 2);
  }
  end_options();
  end_block();
  ++written_;
  if (buffer_.size() >= options_.buffer_bytes) flush();
  return true;
}

void PcapngWriter::flush() {
  if (buffer_.empty() || !fd_) return;
  try {
    fd_.write_all(path_, buffer_);
  } catch (const SystemError&) {
    // Whole blocks or nothing: a reader must not find half of one. The file takes no more.
    [[maybe_unused]] const int cut = ::ftruncate(fd_.get(), static_cast<off_t>(file_bytes_));
    fd_.reset();
    buffer_.clear();
    full_ = true;
    throw;
  }
  file_bytes_ += buffer_.size();
  checksum_ = checksum(checksum_, buffer_);
  buffer_.clear();
}

void PcapngWriter::close(EvidenceSeal offered) {
  offered.until = std::min(offered.until, complete_);
  offered.records = written_;
  finish(offered);
}

void PcapngWriter::finish(const std::optional<EvidenceSeal>& seal) {
  if (!fd_) return;
  for (uint32_t i = 0; i < interfaces_.size(); ++i) {
    const bool last = i + 1 == interfaces_.size();
    put_statistics(i, last && seal ? to_text(*seal, checksum(checksum_, buffer_)) : "");
  }
  flush();
  fd_.reset();
}

void PcapngWriter::put_statistics(uint32_t number, const std::string& seal) {
  const Interface& interface = interfaces_[number];
  const auto ns = static_cast<uint64_t>(interface.last.ns());
  begin_block(kInterfaceStatistics);
  put32(number);
  put32(static_cast<uint32_t>(ns >> 32));
  put32(static_cast<uint32_t>(ns));
  if (!seal.empty()) put_option(kOptComment, seal);
  if (interface.skipped != 0) put_option(kOptComment, "recording stopped at the file's size bound");
  for (const auto& [code, value] :
       {std::pair{kIsbIfRecv, interface.seen}, std::pair{kIsbIfDrop, interface.skipped}}) {
    put16(code);
    put16(8);
    put64(value);
  }
  end_options();
  end_block();
}

void PcapngWriter::begin_block(uint32_t type) {
  block_start_ = buffer_.size();
  put32(type);
  put32(0);  // length, filled in at the end
}

void PcapngWriter::end_block() {
  const auto length = static_cast<uint32_t>(buffer_.size() - block_start_ + 4);
  put32(length);
  std::memcpy(&buffer_[block_start_ + 4], &length, 4);
}

// The file is in this machine's byte order, as the format allows; the magic shows which.
void PcapngWriter::put16(uint16_t value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof value);
}
void PcapngWriter::put32(uint32_t value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof value);
}
void PcapngWriter::put64(uint64_t value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  buffer_.insert(buffer_.end(), bytes, bytes + sizeof value);
}
void PcapngWriter::put_padded(std::span<const uint8_t> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  buffer_.resize(buffer_.size() + padded(bytes.size()) - bytes.size());
}
void PcapngWriter::put_option(uint16_t code, std::span<const uint8_t> value) {
  value = value.first(std::min<size_t>(value.size(), UINT16_MAX));
  put16(code);
  put16(static_cast<uint16_t>(value.size()));
  put_padded(value);
}
void PcapngWriter::put_option(uint16_t code, std::string_view value) {
  put_option(code, bytes_of(value));
}

}  // namespace mrclab::netio
