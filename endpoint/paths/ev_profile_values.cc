#include "endpoint/paths/ev_profile_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>

#include "endpoint/paths/ev_set.h"
#include "fabric/paths/path_list.h"
#include "fabric/paths/path_pattern.h"

namespace mrclab::endpoint {
namespace {

constexpr uint32_t kEvBits = 32;

uint32_t all_ones(uint32_t bits) { return bits >= 32 ? ~0u : (1u << bits) - 1; }

std::string hex_text(uint32_t value) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", value);
  return text.data();
}

/// The number itself or, as the MRC API's examples write masks, in hexadecimal.
uint32_t read_number(const YamlValue& value, uint32_t max) {
  const std::string text = value.is_scalar() ? value.as_string() : "";
  if (!text.starts_with("0x")) return static_cast<uint32_t>(value.as_integer(0, max));
  size_t used = 0;
  unsigned long number = 0;
  if (text.size() > 2 && text.size() <= 10 &&
      text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string::npos) {
    number = std::stoul(text, &used, 16);
  }
  if (used != text.size() || number > max) {
    value.fail_expecting("a number from 0 to " + hex_text(max));
  }
  return static_cast<uint32_t>(number);
}

EvField read_field(const YamlValue& value) {
  value.only_keys({"width", "init_val", "min", "max", "mask"});
  EvField field;
  field.width = static_cast<uint32_t>(value.require("width").as_integer(1, kEvBits));
  const uint32_t widest = all_ones(field.width);
  if (const auto init = value.get("init_val")) field.init_val = read_number(*init, widest);
  if (const auto mask = value.get("mask")) field.mask = read_number(*mask, widest);
  const uint32_t most = all_ones(static_cast<uint32_t>(std::popcount(field.mask)));
  const uint32_t limit = field.mask == 0 ? 0 : most;
  if (const auto max = value.get("max")) field.max = read_number(*max, limit);
  if (const auto min = value.get("min")) {
    field.min = read_number(*min, limit);
    if (field.min > field.max) min->fail_expecting("at most the field's max");
  }
  return field;
}

EntropyValue join_fields(const std::vector<EvField>& fields, const std::vector<uint32_t>& values) {
  uint64_t joined = 0;
  for (size_t i = 0; i < fields.size(); ++i) joined = joined << fields[i].width | values[i];
  return {static_cast<uint32_t>(joined)};
}

/// All combinations of the fields' ranges, the last field running fastest.
std::vector<EntropyValue> generated_values(const std::vector<EvField>& fields) {
  std::vector<EntropyValue> values;
  std::vector<uint32_t> counter;
  counter.reserve(fields.size());
  for (const EvField& field : fields) counter.push_back(field.min);
  const uint32_t bits = generated_bits(fields);
  while (true) {
    uint64_t packed = 0;
    for (size_t i = 0; i < fields.size(); ++i) {
      packed = packed << std::popcount(fields[i].mask) | counter[i];
    }
    values.push_back(join_fields(fields, expand_fields(fields, packed, bits)));
    size_t i = fields.size();
    while (i > 0 && counter[i - 1] == fields[i - 1].max) {
      --i;
      counter[i] = fields[i].min;
    }
    if (i == 0) return values;
    ++counter[i - 1];
  }
}

EvProfile parse_generated(const YamlValue& value, const Topology& topology) {
  value.only_keys({"fields"});
  EvProfile profile;
  profile.mode = EvProfile::Mode::kGenerated;
  const YamlValue list = value.require("fields");
  uint32_t width = 0;
  uint64_t count = 1;
  for (const YamlValue& item : list.items()) {
    const EvField field = read_field(item);
    profile.fields.push_back(field);
    width += field.width;
    count *= uint64_t{field.max} - field.min + 1;
    if (count > EvProfile::kMaxValues) {
      item.fail(std::to_string(count) + " values or more",
                "at most " + std::to_string(EvProfile::kMaxValues));
    }
    if (width > kEvBits) item.fail(std::to_string(width) + " bits in all", "32");
  }
  if (width != kEvBits) {
    list.fail(std::to_string(width) + " bits in all", "32, the width of an entropy value");
  }
  for (const EntropyValue ev : generated_values(profile.fields)) {
    const std::optional<Path> path = path_of(ev);
    if (!path || !has_path(topology, *path)) {
      list.fail(
          "the value " + hex_text(ev.value) + ", which is no path of " + topology.name,
          "ranges that give only paths: bits 23-16 are the plane, 15-14 set, 13-0 the uplink");
    }
    profile.values.push_back(ev);
  }
  return profile;
}

EvProfile parse_explicit(const YamlValue& value, const Topology& topology) {
  EvProfile profile;
  profile.mode = EvProfile::Mode::kExplicit;
  for (const Path path : read_paths(value, topology)) profile.values.push_back(ev_of(path));
  return profile;
}

}  // namespace

uint32_t generated_bits(const std::vector<EvField>& fields) {
  uint32_t bits = 0;
  for (const EvField& field : fields) bits += static_cast<uint32_t>(std::popcount(field.mask));
  return bits;
}

std::vector<uint32_t> expand_fields(const std::vector<EvField>& fields, uint64_t packed,
                                    uint32_t bits) {
  std::vector<uint32_t> values;
  for (const EvField& field : fields) {
    uint32_t value = field.init_val;
    for (uint32_t bit = field.width; bit-- > 0;) {
      if ((field.mask >> bit & 1u) == 0) continue;
      const uint32_t next = bits > 0 ? static_cast<uint32_t>(packed >> --bits & 1u) : 0;
      value = (value & ~(1u << bit)) | next << bit;
    }
    values.push_back(value);
  }
  return values;
}

EvProfile parse_ev_profile(const YamlValue& value, const Topology& topology) {
  EvProfile profile;
  if (value.is_scalar()) {
    value.as_word({"auto"});
    return profile;
  }
  profile = value.is_map() ? parse_generated(value, topology) : parse_explicit(value, topology);
  std::sort(profile.values.begin(), profile.values.end());
  profile.values.erase(std::unique(profile.values.begin(), profile.values.end()),
                       profile.values.end());
  if (profile.values.size() > EvProfile::kMaxValues) {
    value.fail(std::to_string(profile.values.size()) + " values",
               "at most " + std::to_string(EvProfile::kMaxValues));
  }
  const bool crosses = std::any_of(profile.values.begin(), profile.values.end(),
                                   [](auto ev) { return path_of(ev)->uplink != kT0LocalUplink; });
  if (topology.longest_path > 1 && !crosses) {
    value.fail("no path over a T1", "at least one: hosts on different T0s need it");
  }
  return profile;
}

std::string to_yaml(const EvProfile& profile) {
  std::string text;
  if (profile.mode == EvProfile::Mode::kAuto) return "auto";
  if (profile.mode == EvProfile::Mode::kExplicit) {
    for (const EntropyValue ev : profile.values) {
      text += (text.empty() ? "\"" : ", \"") + to_string(*path_of(ev)) + "\"";
    }
    return "[" + text + "]";
  }
  for (const EvField& f : profile.fields) {
    text += std::string(text.empty() ? "" : ", ") + "{width: " + std::to_string(f.width) +
            ", init_val: " + hex_text(f.init_val) + ", min: " + std::to_string(f.min) +
            ", max: " + std::to_string(f.max) + ", mask: " + hex_text(f.mask) + "}";
  }
  return "{fields: [" + text + "]}";
}

std::vector<EntropyValue> values_between(const EvProfile& profile, const Topology& topology,
                                         uint32_t source, uint32_t destination, uint32_t limit,
                                         uint64_t seed, Chosen chosen, Qpn qp) {
  std::vector<EntropyValue> values;
  for (const EntropyValue ev : profile.values) {
    Path path = *path_of(ev);
    if (path.chosen != chosen) continue;
    // Hosts on one T0 have one path in a plane, whatever uplink or number a value names.
    const Path local{path.plane, kT0LocalUplink};
    if (has_path(topology, source, destination, local)) {
      path = path.named() ? local : Path{path.plane, 0, chosen};
    }
    if (path.named() && !has_path(topology, source, destination, path)) continue;
    if (values.empty() || values.back() != ev_of(path)) values.push_back(ev_of(path));
  }
  if (values.empty()) return entropy_values(topology, source, destination, limit, seed, chosen, qp);
  return values;
}

}  // namespace mrclab::endpoint
