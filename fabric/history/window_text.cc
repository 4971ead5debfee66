#include "fabric/history/window_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/text/enum_words.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mrclab {
namespace {

/// All keys of a line, of writer and reader alike. The first six stand in every line.
enum class WindowKey : uint8_t {
  kTime,
  kNode,
  kKind,
  kPeer,
  kWindow,
  kInFlight,
  kLargest,
  kBaseRtt,
  kTarget,
  kDelay,
  kMostDelay,
  kQuadrant,
  kAnswers,
  kCut,
  kCuts,
};
constexpr auto kWindowKeys = words_by_value<WindowKey>({{WindowKey::kTime, "t_ps"},
                                                        {WindowKey::kNode, "node"},
                                                        {WindowKey::kKind, "kind"},
                                                        {WindowKey::kPeer, "peer"},
                                                        {WindowKey::kWindow, "window"},
                                                        {WindowKey::kInFlight, "in_flight"},
                                                        {WindowKey::kLargest, "largest"},
                                                        {WindowKey::kBaseRtt, "base_rtt_ps"},
                                                        {WindowKey::kTarget, "target_ps"},
                                                        {WindowKey::kDelay, "delay_ps"},
                                                        {WindowKey::kMostDelay, "most_delay_ps"},
                                                        {WindowKey::kQuadrant, "quadrant"},
                                                        {WindowKey::kAnswers, "answers"},
                                                        {WindowKey::kCut, "cut"},
                                                        {WindowKey::kCuts, "cuts"}});
constexpr size_t kRequiredKeys = 6;

constexpr std::string_view word(WindowKey key) { return kWindowKeys[static_cast<size_t>(key)]; }

/// Composes the line by hand: a run has a hundred thousand of them, and nlohmann's objects cost five times
/// as much.
class LineWriter {
 public:
  void text(WindowKey key, std::string_view value) {
    begin(word(key));
    line_.append("\"").append(value).append("\"");
  }
  void number(WindowKey key, int64_t value) {
    begin(word(key));
    line_ += std::to_string(value);
  }
  void bytes(WindowKey key, Bytes value) { number(key, static_cast<int64_t>(value.value)); }
  void open(WindowKey key) {
    begin(word(key));
    line_ += '{';
    first_ = true;
  }
  void member(std::string_view name, const std::string& value) {
    begin(name);
    line_ += value;
  }
  void close() {
    line_ += '}';
    first_ = false;
  }
  std::string take() { return std::move(line_) + '}'; }

 private:
  void begin(std::string_view name) {
    if (!first_) line_ += ',';
    first_ = false;
    line_.append("\"").append(name).append("\":");
  }
  std::string line_ = "{";
  bool first_ = true;
};

template <size_t kCount>
std::optional<size_t> place_of_word(const std::array<std::string_view, kCount>& words,
                                    std::string_view asked) {
  const auto found = std::find(words.begin(), words.end(), asked);
  if (found == words.end()) return std::nullopt;
  return static_cast<size_t>(found - words.begin());
}

bool has_known_keys(const nlohmann::json& line) {
  if (!line.is_object()) return false;
  for (const auto& item : line.items()) {
    if (!place_of_word(kWindowKeys, item.key())) return false;
  }
  return std::all_of(kWindowKeys.begin(), kWindowKeys.begin() + kRequiredKeys,
                     [&](std::string_view key) { return line.contains(key); });
}

/// Reads values of a line and remembers whether any of them was malformed.
class LineReader {
 public:
  explicit LineReader(const nlohmann::json& line) : line_(line) {}
  bool good() const { return good_; }

  const nlohmann::json* find(WindowKey key) const {
    const auto found = line_.find(word(key));
    return found == line_.end() ? nullptr : &*found;
  }
  void time(WindowKey key, std::optional<FabricTime>& value) {
    if (const nlohmann::json* found = find(key)) value = FabricTime::from_ps(count(*found));
  }
  void bytes(WindowKey key, Bytes& value) {
    if (const nlohmann::json* found = find(key)) value = {static_cast<uint64_t>(count(*found))};
  }
  template <class Enumeration, size_t kCount>
  void one_of(WindowKey key, const std::array<std::string_view, kCount>& words,
              std::optional<Enumeration>& value) {
    const nlohmann::json* found = find(key);
    if (found == nullptr) return;
    const auto place = place_of_word(words, found->get<std::string>());
    good_ = good_ && place;
    if (place) value = static_cast<Enumeration>(*place);
  }
  /// Calls `take(place, value)` for each member of an object whose names are `words`.
  template <size_t kCount>
  void each(WindowKey key, const std::array<std::string_view, kCount>& words, auto&& take) {
    const nlohmann::json* found = find(key);
    if (found == nullptr) return;
    good_ = good_ && found->is_object();
    if (!good_) return;
    for (const auto& item : found->items()) {
      const auto place = place_of_word(words, item.key());
      good_ = good_ && place;
      if (place) take(*place, item.value());
    }
  }
  uint32_t times(const nlohmann::json& value) {
    const int64_t times = count(value);
    good_ = good_ && times <= UINT32_MAX;
    return good_ ? static_cast<uint32_t>(times) : 0;
  }
  /// A number that is no less than zero.
  int64_t count(const nlohmann::json& value) {
    good_ = good_ && value.is_number_integer() && value.get<int64_t>() >= 0;
    return good_ ? value.get<int64_t>() : 0;
  }
  void refuse() { good_ = false; }

 private:
  const nlohmann::json& line_;
  bool good_ = true;
};

}  // namespace

std::string window_line(const Topology& topology, NodeId node, const WindowRecord& record) {
  LineWriter line;
  line.number(WindowKey::kTime, record.t.ps());
  line.text(WindowKey::kNode, topology.node(node).name);
  line.text(WindowKey::kKind, event_kind::kWindow);
  line.text(WindowKey::kPeer, topology.node(record.peer).name);
  line.bytes(WindowKey::kWindow, record.window);
  line.bytes(WindowKey::kInFlight, record.in_flight);
  if (record.largest) line.bytes(WindowKey::kLargest, *record.largest);
  const auto time = [&line](WindowKey key, const std::optional<FabricTime>& value) {
    if (value) line.number(key, value->ps());
  };
  time(WindowKey::kBaseRtt, record.base_rtt);
  time(WindowKey::kTarget, record.target);
  time(WindowKey::kDelay, record.delay);
  time(WindowKey::kMostDelay, record.most_delay);
  if (record.quadrant) {
    line.text(WindowKey::kQuadrant, kQuadrantWords[static_cast<size_t>(*record.quadrant)]);
    line.open(WindowKey::kAnswers);
    for (size_t i = 0; i < record.answers.size(); ++i) {
      if (record.answers[i] > 0) line.member(kQuadrantWords[i], std::to_string(record.answers[i]));
    }
    line.close();
  }
  if (record.cut) {
    line.text(WindowKey::kCut, kCutWords[static_cast<size_t>(*record.cut)]);
    line.open(WindowKey::kCuts);
    for (size_t i = 0; i < record.cuts.size(); ++i) {
      const WindowRecord::Cuts& cuts = record.cuts[i];
      if (cuts.times == 0) continue;
      line.member(kCutWords[i],
                  "[" + std::to_string(cuts.times) + "," + std::to_string(cuts.taken.value) + "]");
    }
    line.close();
  }
  return line.take();
}

std::optional<WindowRecord> parse_window(const Topology& topology, const nlohmann::json& line) {
  if (!has_known_keys(line)) return std::nullopt;
  LineReader reader(line);
  WindowRecord record;
  record.t = FabricTime::from_ps(reader.count(line.at(word(WindowKey::kTime))));
  const auto peer = topology.find_node(line.at(word(WindowKey::kPeer)).get<std::string>());
  if (!peer || topology.node(*peer).role != NodeRole::kHost) return std::nullopt;
  record.peer = *peer;
  reader.bytes(WindowKey::kWindow, record.window);
  reader.bytes(WindowKey::kInFlight, record.in_flight);
  if (reader.find(WindowKey::kLargest) != nullptr) {
    reader.bytes(WindowKey::kLargest, record.largest.emplace());
  }
  reader.time(WindowKey::kBaseRtt, record.base_rtt);
  reader.time(WindowKey::kTarget, record.target);
  reader.time(WindowKey::kDelay, record.delay);
  reader.time(WindowKey::kMostDelay, record.most_delay);
  reader.one_of(WindowKey::kQuadrant, kQuadrantWords, record.quadrant);
  reader.each(WindowKey::kAnswers, kQuadrantWords, [&](size_t place, const nlohmann::json& value) {
    record.answers[place] = reader.times(value);
  });
  reader.one_of(WindowKey::kCut, kCutWords, record.cut);
  reader.each(WindowKey::kCuts, kCutWords, [&](size_t place, const nlohmann::json& value) {
    if (!value.is_array() || value.size() != 2) return reader.refuse();
    record.cuts[place] = {reader.times(value[0]), {static_cast<uint64_t>(reader.count(value[1]))}};
  });
  if (!reader.good()) return std::nullopt;
  return record;
}

std::string windows_left_out_line(FabricTime from, uint64_t records) {
  return "{\"t_ps\":" + std::to_string(from.ps()) + ",\"node\":\"lab\",\"kind\":\"" +
         std::string(event_kind::kWindowsLeftOut) + "\",\"detail\":\"" + std::to_string(records) +
         "\"}";
}

std::string describe_window(const nlohmann::json& line) {
  const auto number = [&line](WindowKey key) {
    return std::to_string(line.at(word(key)).get<uint64_t>());
  };
  std::string text = "to " + line.at(word(WindowKey::kPeer)).get<std::string>() + ": window " +
                     number(WindowKey::kWindow) + " B, in flight " + number(WindowKey::kInFlight) +
                     " B";
  const LineReader reader(line);
  if (const nlohmann::json* delay = reader.find(WindowKey::kDelay)) {
    text += ", delay " + to_string(FabricTime::from_ps(delay->get<int64_t>()));
  }
  if (const nlohmann::json* quadrant = reader.find(WindowKey::kQuadrant)) {
    text += ", " + quadrant->get<std::string>();
  }
  if (const nlohmann::json* cut = reader.find(WindowKey::kCut)) {
    text += ", cut: " + cut->get<std::string>();
  }
  return text;
}

}  // namespace mrclab
