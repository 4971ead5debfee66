#include "fabric/history/evidence_seal.h"

#include <libdeflate.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace mrclab {
namespace {

constexpr size_t kMaxSealedNodes = 1u << 20;  // more than any fabric has

/// "0-7,12"
std::string ranges_of(const std::vector<NodeId>& nodes) {
  std::string text;
  for (size_t i = 0; i < nodes.size();) {
    size_t last = i;
    while (last + 1 < nodes.size() && nodes[last + 1].value == nodes[last].value + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(nodes[i].value);
    if (last > i) text += "-" + std::to_string(nodes[last].value);
    i = last + 1;
  }
  return text.empty() ? "none" : text;
}

/// Takes words and numbers off the front of a text. Once one is not there, it takes nothing more.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }

  bool skip_if(std::string_view word) {
    const bool is = good_ && rest_.starts_with(word);
    if (is) rest_.remove_prefix(word.size());
    return is;
  }
  void skip(std::string_view word) { good_ = skip_if(word); }
  uint64_t number(int base = 10) {
    uint64_t value = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    good_ = good_ && error == std::errc();
    if (good_) rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return good_ ? value : 0;
  }
  FabricTime time() {
    const uint64_t ps = number();
    good_ = good_ && ps <= static_cast<uint64_t>(FabricTime::never().ps());
    skip(" ps");
    return FabricTime::from_ps(good_ ? static_cast<int64_t>(ps) : 0);
  }
  std::vector<NodeId> ranges() {
    std::vector<NodeId> nodes;
    if (skip_if("none")) return nodes;
    do {
      const uint64_t first = number();
      const uint64_t last = skip_if("-") ? number() : first;
      good_ = good_ && first <= last && last < kMaxSealedNodes &&
              nodes.size() + last - first < kMaxSealedNodes;
      for (uint64_t n = first; good_ && n <= last; ++n) nodes.push_back({static_cast<uint32_t>(n)});
    } while (good_ && skip_if(","));
    return nodes;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

uint32_t checksum(uint32_t before, std::span<const uint8_t> bytes) {
  return ::libdeflate_crc32(before, bytes.data(), bytes.size());
}
uint32_t checksum(uint32_t before, std::string_view text) {
  return ::libdeflate_crc32(before, text.data(), text.size());
}

std::string to_text(const EvidenceSeal& seal, uint32_t before) {
  const auto instant = [](FabricTime t) { return std::to_string(t.ps()) + " ps"; };
  std::string text = std::string(kSealWord) + "nodes " + ranges_of(seal.nodes) + " from " +
                     instant(seal.from) + " until " +
                     (seal.until == FabricTime::never() ? "the end" : instant(seal.until)) + ", " +
                     std::to_string(seal.records) + " records";
  char crc[32];
  std::snprintf(crc, sizeof crc, ", crc32 %08x", checksum(before, text));
  return text + crc;
}

std::optional<EvidenceSeal> parse_seal(std::string_view text, uint32_t before) {
  constexpr size_t kCrcText = 16;  // ", crc32 89abcdef"
  if (text.size() < kCrcText) return std::nullopt;
  EvidenceSeal seal;
  Words words(text.substr(0, text.size() - kCrcText));
  words.skip(kSealWord);
  words.skip("nodes ");
  seal.nodes = words.ranges();
  words.skip(" from ");
  seal.from = words.time();
  words.skip(" until ");
  if (!words.skip_if("the end")) seal.until = words.time();
  words.skip(", ");
  seal.records = words.number();
  words.skip(" records");
  // The seal must read back as this very text, which compares the checksum as well.
  if (!words.at_end() || to_text(seal, before) != text) return std::nullopt;
  return seal;
}

namespace {

constexpr std::string_view kSealKind = R"("kind":"log_sealed","detail":")";
constexpr std::string_view kLineEnd = "\"}";

}  // namespace

std::string seal_line(const EvidenceSeal& seal, FabricTime last_event, uint32_t before) {
  return R"({"t_ps":)" + std::to_string(last_event.ps()) + R"(,"node":"lab",)" +
         std::string(kSealKind) + to_text(seal, before) + std::string(kLineEnd);
}

bool is_seal_line(std::string_view line) { return line.find(kSealKind) != std::string_view::npos; }

std::optional<EvidenceSeal> parse_seal_line(std::string_view line, uint32_t before) {
  const size_t kind = line.find(kSealKind);
  if (kind == std::string_view::npos || !line.ends_with(kLineEnd)) return std::nullopt;
  line.remove_prefix(kind + kSealKind.size());
  line.remove_suffix(std::min(line.size(), kLineEnd.size()));
  return parse_seal(line, before);
}

void SealedSpans::add_seal(const EvidenceSeal& seal, const std::string& file) {
  for (const NodeId node : seal.nodes) spans_[node].push_back({seal.from, seal.until, file});
}

const SealedSpans::Span* SealedSpans::last(NodeId node) const {
  const auto found = spans_.find(node);
  if (found == spans_.end()) return nullptr;
  const Span* last = nullptr;
  FabricTime known;
  // Each round advances from an instant to the end of a span that begins before it.
  for (bool further = true; further;) {
    further = false;
    for (const Span& span : found->second) {
      if (span.from > known || span.until <= known) continue;
      known = span.until;
      last = &span;
      further = true;
    }
  }
  return last;
}

FabricTime SealedSpans::complete_until(NodeId node) const {
  const Span* const span = last(node);
  return span == nullptr ? FabricTime::zero() : span->until;
}

std::string SealedSpans::last_file(NodeId node) const {
  const Span* const span = last(node);
  return span == nullptr ? std::string() : span->file;
}

std::vector<NodeId> SealedSpans::nodes() const {
  std::vector<NodeId> nodes;
  for (const auto& [node, spans] : spans_) nodes.push_back(node);
  return nodes;
}

}  // namespace mrclab
