#include "tests/lab/evidence_cuts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "fabric/history_record.h"

namespace mrclab::test {
namespace {

constexpr size_t kPage = 4096;

/// No std distribution: the same places with every library.
size_t below(std::mt19937_64& random, size_t bound) { return random() % bound; }

}  // namespace

std::vector<size_t> record_bounds(FileKind kind, std::string_view bytes) {
  std::vector<size_t> bounds;
  for (size_t at = 0; at < bytes.size();) {
    bounds.push_back(at);
    size_t length = bytes.size() - at;
    if (kind == FileKind::kCapture) {
      uint32_t block = 0;
      REQUIRE(length >= 12);
      std::memcpy(&block, bytes.data() + at + 4, 4);
      length = block;
    } else if (kind == FileKind::kRecords) {
      const bool seal = bytes.substr(at).starts_with(kSealWord);
      if (!seal) length = at == 0 ? kHistoryHeaderBytes : kCompactRecordBytes;
    } else {
      length = bytes.find('\n', at) + 1 - at;
    }
    REQUIRE(length > 0);
    at += length;
    REQUIRE(at <= bytes.size());
  }
  bounds.push_back(bytes.size());
  return bounds;
}

std::optional<std::string> without(FileKind kind, const std::string& bytes, Cut cut,
                                   std::mt19937_64& random) {
  if (cut == Cut::kFile) return std::nullopt;
  const std::vector<size_t> bounds = record_bounds(kind, bytes);
  REQUIRE(bounds.size() > 1);
  const size_t records = bounds.size() - 1;
  const size_t place = below(random, bytes.size());
  const size_t record = below(random, records);
  std::string left = bytes;
  switch (cut) {
    case Cut::kAnywhere: left.resize(place); break;
    case Cut::kBetween: left.resize(bounds[record]); break;
    case Cut::kLast: left.resize(bounds[records - 1]); break;
    case Cut::kOneRecord: left.erase(bounds[record], bounds[record + 1] - bounds[record]); break;
    case Cut::kSomeBytes: left.erase(place, 1 + below(random, 300)); break;
    case Cut::kFlippedBit: left[place] = static_cast<char>(left[place] ^ 1 << random() % 8); break;
    case Cut::kZeroes:
      std::fill_n(left.begin() + static_cast<long>(place), std::min(kPage, left.size() - place),
                  '\0');
      if (left == bytes) left[place] = 1;
      break;
    case Cut::kFile: break;
  }
  REQUIRE(left != bytes);
  return left;
}

}  // namespace mrclab::test
