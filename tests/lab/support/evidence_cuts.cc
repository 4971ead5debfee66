#include "tests/lab/support/evidence_cuts.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "fabric/history/evidence_seal.h"
#include "fabric/history/history_record.h"
#include "fabric/history/report_json.h"

namespace mrclab::test {
namespace {

constexpr size_t kPage = 4096;

/// No std distribution: the same places with every library.
size_t below(std::mt19937_64& random, size_t bound) { return random() % bound; }

using nlohmann::json;

void add_keys(const json& value, const json::json_pointer& at,
              std::vector<json::json_pointer>& all) {
  if (!value.is_structured()) return;
  for (const auto& [key, item] : value.items()) {
    const json::json_pointer here =
        value.is_array() ? at / static_cast<size_t>(std::stoul(key)) : at / key;
    if (value.is_object()) all.push_back(here);
    add_keys(item, here, all);
  }
}

json without_key(json object, Cut cut, std::mt19937_64& random) {
  const std::vector<json::json_pointer> keys = keys_of(object);
  const json::json_pointer key = keys[below(random, keys.size())];
  const json value = object[key];
  object[key.parent_pointer()].erase(key.back());
  if (cut == Cut::kKeyRenamed) object[key.parent_pointer()][key.back() + "_"] = value;
  if (cut == Cut::kOtherType) {
    object[key] = value.is_string() ? json(random() % 1000) : json(std::to_string(random() % 1000));
  }
  return object;
}

/// In a line that the judge reads, if there is one.
std::string without_event_key(const std::string& bytes, Cut cut, std::mt19937_64& random) {
  const std::vector<size_t> bounds = record_bounds(FileKind::kEvents, bytes);
  const size_t seal_at = bounds[bounds.size() - 2];
  const auto line = [&](size_t i) { return bytes.substr(bounds[i], bounds[i + 1] - bounds[i]); };
  std::vector<size_t> read, all;
  for (size_t i = 0; bounds[i] < seal_at; ++i) {
    all.push_back(i);
    for (const char* kind : {"ev_state", "qp_error", "collective_done"}) {
      if (line(i).find(kind) != std::string::npos) read.push_back(i);
    }
  }
  const std::vector<size_t>& from = read.empty() ? all : read;
  if (from.empty()) return "";
  const size_t chosen = from[below(random, from.size())];
  const std::string before = bytes.substr(0, bounds[chosen]) +
                             without_key(json::parse(line(chosen)), cut, random).dump() + "\n" +
                             bytes.substr(bounds[chosen + 1], seal_at - bounds[chosen + 1]);
  const auto seal = parse_seal_line(bytes.substr(seal_at, bytes.size() - seal_at - 1),
                                    checksum(0, bytes.substr(0, seal_at)));
  REQUIRE(seal);
  return before + seal_line(*seal, FabricTime::zero(), checksum(0, before)) + "\n";
}

}  // namespace

std::string cut_name(Cut cut) { return std::string(kCutNames[static_cast<size_t>(cut)]); }

std::vector<Cut> cuts_of(FileKind kind) {
  std::vector<Cut> cuts(std::begin(kCuts), std::end(kCuts));
  if (kind == FileKind::kReport || kind == FileKind::kEvents) {
    cuts.insert(cuts.end(), std::begin(kKeyCuts), std::end(kKeyCuts));
  }
  return cuts;
}

std::vector<json::json_pointer> keys_of(const json& value) {
  std::vector<json::json_pointer> all;
  add_keys(value, json::json_pointer(), all);
  return all;
}

std::vector<size_t> record_bounds(FileKind kind, std::string_view bytes) {
  std::vector<size_t> bounds;
  size_t at = 0;
  while (at < bytes.size()) {
    bounds.push_back(at);
    size_t length = bytes.size() - at;
    if (kind == FileKind::kCapture) {
      uint32_t block = 0;
      if (length < 12) break;
      std::memcpy(&block, bytes.data() + at + 4, 4);
      length = block;
    } else if (kind == FileKind::kRecords) {
      const bool seal = bytes.substr(at).starts_with(kSealWord);
      if (!seal) length = at == 0 ? kHistoryHeaderBytes : kCompactRecordBytes;
    } else {
      const size_t end = bytes.find('\n', at);
      length = std::min(end, bytes.size() - 1) + 1 - at;
    }
    if (length == 0 || length > bytes.size() - at) break;
    at += length;
  }
  REQUIRE(at == bytes.size());  // once, as a file has many records
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
    case Cut::kKeyRemoved:
    case Cut::kKeyRenamed:
    case Cut::kOtherType:
      left = kind == FileKind::kEvents
                 ? without_event_key(bytes, cut, random)
                 : sealed_report(without_key(parse_sealed_report(bytes), cut, random));
      break;
    case Cut::kFile: break;
  }
  REQUIRE(left != bytes);
  return left;
}

}  // namespace mrclab::test
