#include "analysis/history/history_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "fabric/text/input_file.h"
#include "fabric/text/yaml.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kMaxSealBytes = 1u << 20;

}  // namespace

HistoryReader::HistoryReader(ByteSource source, std::string name)
    : source_(std::move(source)), name_(std::move(name)) {
  const std::span<const uint8_t> bytes = source_.peek(kHistoryHeaderBytes);
  if (bytes.size() < kHistoryHeaderBytes) fail("it ends within its header");
  std::string problem;
  const auto header = parse_history_header(bytes.first<kHistoryHeaderBytes>(), problem);
  if (!header) fail(problem);
  header_ = *header;
  std::copy_n(bytes.begin(), kHistoryHeaderBytes, header_bytes_.begin());
  source_.skip(kHistoryHeaderBytes);
}

HistoryReader HistoryReader::open(const std::filesystem::path& path) {
  require_input_file(path);
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw InputError("open " + path.string() + ": " + std::generic_category().message(errno));
  }
  return {ByteSource(file), path.string()};
}

std::optional<CompactRecord> HistoryReader::next() {
  if (index_ == header_.records) {
    read_seal();
    return std::nullopt;
  }
  const std::span<const uint8_t> bytes = source_.peek(kCompactRecordBytes);
  if (source_.failed()) fail("it cannot be read");
  if (bytes.size() < kCompactRecordBytes) {
    if (header_.records == HistoryFileHeader::kUnfinished) return std::nullopt;
    fail("it ends before record " + std::to_string(index_) + " of " +
         std::to_string(header_.records));
  }
  const auto record = parse_compact(bytes.first<kCompactRecordBytes>(), header_.streams);
  if (!record) fail("record " + std::to_string(index_) + " is none");
  checksum_ = checksum(checksum_, bytes.first<kCompactRecordBytes>());
  source_.skip(kCompactRecordBytes);
  ++index_;
  return record;
}

void HistoryReader::read_seal() {
  const std::span<const uint8_t> rest = source_.peek(kMaxSealBytes + 1);
  if (rest.empty()) return;
  const std::string_view text(reinterpret_cast<const char*>(rest.data()), rest.size());
  if (!text.starts_with(kSealWord)) fail("there is more behind its last record");
  seal_ = parse_history_seal(text, checksum_, header_bytes_);
  if (!seal_) fail("its records are not those that its seal was made for");
}

void HistoryReader::fail(const std::string& problem) const {
  throw InputError(name_ + ": " + problem);
}

}  // namespace mrclab::analysis
