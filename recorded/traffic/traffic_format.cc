#include "recorded/traffic/traffic_format.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "fabric/text/yaml.h"
#include "fabric/topology/path.h"

namespace mrclab::lab {
namespace {

using analysis::CarrierFormat;
using analysis::EvReading;
using analysis::GivenEv;
using analysis::GivenPlace;
using analysis::Known;
using analysis::PathBy;

constexpr uint32_t kMostPlaneBits = 8;

/// The length of a block such as "fc00:42::/32"; only that counts.
uint8_t block_length(const std::string& text) {
  constexpr const char* kExpected = "a prefix of 16, 32, 48 or 64 bits such as fc00:42::/32";
  const size_t slash = text.find('/');
  Ipv6Address address{};
  if (slash == std::string::npos ||
      ::inet_pton(AF_INET6, text.substr(0, slash).c_str(), address.data()) != 1) {
    refuse_option("--block", text, kExpected);
  }
  const auto bits = whole_number(std::string_view(text).substr(slash + 1));
  if (!bits || *bits == 0 || *bits > 64 || *bits % 16 != 0) {
    refuse_option("--block", text, kExpected);
  }
  return static_cast<uint8_t>(*bits);
}

std::pair<uint8_t, uint8_t> plane_bits_in(const std::string& text, std::string_view range,
                                          bool of_carrier) {
  constexpr const char* kExpected =
      "at most 8 bits, of an entropy value as port:plane=15-8, of a carrier as carrier:plane=44-47";
  const size_t dash = range.find('-');
  const auto first = whole_number(range.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : whole_number(range.substr(dash + 1));
  if (!first || !last) refuse_option("--ev-format", text, kExpected);
  const uint32_t low = std::min(*first, *last), high = std::max(*first, *last);
  if (high >= (of_carrier ? 128u : 32u) || high - low >= kMostPlaneBits) {
    refuse_option("--ev-format", text, kExpected);
  }
  return {static_cast<uint8_t>(low), static_cast<uint8_t>(high)};
}

GivenEv ev_format_in(const std::string& text) {
  struct Name {
    std::string_view word;
    PathBy by;
    EvReading reading;
  };
  constexpr std::array<Name, 5> kNames{{{"port", PathBy::kEntropy, EvReading::kPort},
                                        {"label", PathBy::kEntropy, EvReading::kLabel},
                                        {"port+label", PathBy::kEntropy, EvReading::kPortLabel},
                                        {"label+port", PathBy::kEntropy, EvReading::kLabelPort},
                                        {"carrier", PathBy::kCarrier, EvReading::kLabelPort}}};
  const std::string_view view = text;
  const size_t colon = view.find(':');
  for (const Name& name : kNames) {
    if (view.substr(0, colon) != name.word) continue;
    GivenEv given{name.by, name.reading};
    if (colon == std::string_view::npos) return given;
    constexpr std::string_view kPlane = "plane=";
    const std::string_view rest = view.substr(colon + 1);
    if (!rest.starts_with(kPlane)) break;
    given.plane_bits = plane_bits_in(text, rest.substr(kPlane.size()), name.by == PathBy::kCarrier);
    return given;
  }
  refuse_option("--ev-format", text,
                "port, label, port+label, label+port or carrier, and perhaps :plane=15-8");
}

GivenPlace place_in(const std::string& text, const Topology* topology) {
  if (text == "sender") return {GivenPlace::Where::kSender, {}};
  if (text == "receiver") return {GivenPlace::Where::kReceiver, {}};
  if (text == "switch") return {GivenPlace::Where::kSwitch, {}};
  return {GivenPlace::Where::kHost, host_in("--captured-at", text, topology)};
}

/// The words, with those of the file in place of the ones that the command line leaves out.
TrafficWords with_file(TrafficWords words) {
  if (words.format_file.empty()) return words;
  const YamlValue file = read_yaml_file(words.format_file);
  file.only_keys({"block", "usid_length", "ev_format", "captured_at"});
  const auto fill = [&file](const char* key, std::string& word) {
    const std::optional<YamlValue> value = file.get(key);
    if (value && word.empty()) word = value->as_string();
  };
  fill("block", words.block);
  fill("usid_length", words.usid_length);
  fill("ev_format", words.ev_format);
  fill("captured_at", words.captured_at);
  return words;
}

}  // namespace

void refuse_option(const char* option, const std::string& found, const char* expected) {
  throw InputError(fmt::format("{}: found {}: expected {}", option, in_quotes(found), expected));
}

std::optional<uint32_t> whole_number(std::string_view text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  uint32_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Ipv6Address host_in(const char* option, const std::string& text, const Topology* topology) {
  Ipv6Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) == 1) return address;
  std::array<uint8_t, 4> ipv4{};
  if (::inet_pton(AF_INET, text.c_str(), ipv4.data()) == 1) {
    address[10] = address[11] = 0xFF;  // RFC 4291 §2.5.5.2
    std::copy(ipv4.begin(), ipv4.end(), address.begin() + 12);
    return address;
  }
  if (topology == nullptr) {
    refuse_option(option, text, "an IP address, as no --fabric has names");
  }
  const auto node = topology->find_node(text);
  if (!node || topology->node(*node).role != NodeRole::kHost) {
    refuse_option(option, text, "a host such as h0, or its IP address");
  }
  return host_address(*topology, topology->node(*node).index);
}

analysis::GivenFormat given_format(const TrafficWords& line, const Topology* topology) {
  const TrafficWords words = with_file(line);
  analysis::GivenFormat given;
  if (!words.block.empty() || !words.usid_length.empty()) {
    CarrierFormat carriers;
    carriers.known = Known::kGiven;
    if (!words.block.empty()) carriers.block_bits = block_length(words.block);
    if (!words.usid_length.empty()) {
      const auto bits = whole_number(words.usid_length);
      if (bits != 16u && bits != 32u) refuse_option("--usid-length", words.usid_length, "16 or 32");
      carriers.usid_bits = static_cast<uint8_t>(*bits);
    }
    given.carriers = carriers;
  }
  if (!words.ev_format.empty()) given.ev = ev_format_in(words.ev_format);
  if (!words.captured_at.empty()) given.place = place_in(words.captured_at, topology);
  return given;
}

}  // namespace mrclab::lab
