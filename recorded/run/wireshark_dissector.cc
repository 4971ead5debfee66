#include "recorded/run/wireshark_dissector.h"
#include "scenario/spec/shipped_files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "fabric/packet/header_fields.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/fabric_file.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kDissectorMax = size_t{1} << 20;
constexpr size_t kWireNamesMax = 20'000;  // a larger fabric's wires stay numbers
constexpr std::string_view kTablesMark = "--@TABLES@\n";
constexpr std::string_view kFirstLine = "-- Wireshark dissector of MRC 1.0";

/// Names and texts of ours only: no quotes or backslashes in them.
std::string lua_string(std::string_view text) { return fmt::format("\"{}\"", text); }

std::string lua_names(ValueName name, size_t width) {
  std::string words;
  for (uint64_t value = 0; width <= 8 && value < uint64_t{1} << width; ++value) {
    if (name(value) != "unknown") words += fmt::format("[{}]={},", value, lua_string(name(value)));
  }
  return words;
}

template <class Each>
constexpr bool is_signed_field() {
  if constexpr (kIsMember<Each>) {
    using Member = std::remove_cvref_t<decltype(std::declval<typename Each::Decoded>().*
                                                std::declval<Each>().member)>;
    return std::is_same_v<Member, FabricTime> ||
           (std::is_integral_v<Member> && std::is_signed_v<Member>);
  }
  return false;
}

template <class Each>
std::string lua_field(const Each& each, FieldPlace place) {
  if (each.name.empty()) return "";
  std::string line = fmt::format("    {{name={}, label={}, bit={}, width={}", lua_string(each.name),
                                 lua_string(each.label), place.bit, place.width);
  if (each.show == Show::kHex) line += ", hex=true";
  if (place.width == 1) line += ", flag=true";
  if (is_signed_field<Each>()) line += ", signed=true";
  if (each.value_name != nullptr) {
    line += fmt::format(", names={{{}}}", lua_names(each.value_name, place.width));
  }
  if (!each.about.empty()) line += ", about=" + lua_string(each.about);
  return line + "},\n";
}

/// Whole bytes of the table that have one value only, as "[byte]=value".
template <const auto& kTable>
std::string lua_constants() {
  std::string constants;
  for_each_field<kTable>([&]<class Each>(const Each& each, FieldPlace place) {
    if constexpr (!kIsMember<Each>) {
      if (each.computed || place.bit % 8 != 0) return;
      for (size_t i = 0; i < place.width / 8; ++i) {
        constants += fmt::format("[{}]={},", place.bit / 8 + i,
                                 each.value >> (place.width - 8 - 8 * i) & 0xFF);
      }
    }
  });
  return constants;
}

template <const auto& kTable>
std::string lua_header() {
  std::string text = fmt::format("{{label={}, bytes={}, fields={{  -- {}\n",
                                 lua_string(kTable.label), kTable.bytes(), kTable.source);
  for_each_field<kTable>(
      [&](const auto& each, FieldPlace place) { text += lua_field(each, place); });
  return text + "  }";
}

std::string lua_range(const UsidLayout& usids, UsidRole role) {
  return fmt::format("{{first={}, count={}}}", usids.make(role, 0, 0).value, usids.count(role));
}

/// What uSIDs mean; nothing where they are not those of planes.
std::string lua_usids(const Topology& topology) {
  if (!topology.has_planes()) return "local fabric = nil\n";
  const UsidLayout& usids = topology.usids;
  const uint32_t shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint32_t>(
      usids.make(UsidRole::kT1, 1, 0).value - usids.make(UsidRole::kT1, 0, 0).value)));
  return fmt::format(
      "local fabric = {{  -- {}, uSID layout {}\n  planes={}, plane_shift={}, hosts_per_t0={},\n"
      "  ranges={{t1={}, t0={}, t2={},\n    nic={}, kernel={}}},\n}}\n",
      topology.name, usids.name(), usids.planes(), shift, topology.hosts_per_t0,
      lua_range(usids, UsidRole::kT1), lua_range(usids, UsidRole::kT0),
      lua_range(usids, UsidRole::kT2), lua_range(usids, UsidRole::kNicPort),
      lua_range(usids, UsidRole::kHostKernel));
}

std::string lua_fabric(const Topology& topology) {
  std::string text = lua_usids(topology) + "local wires = {\n";
  if (topology.all_wires().size() <= kWireNamesMax) {
    for (const Wire& wire : topology.all_wires()) {
      text += fmt::format("  [{}]={},\n", wire.id.value, lua_string(topology.wire_name(wire.id)));
    }
  }
  return text + "}\n";
}

/// The names of DSCPs: the fabric's own, or the defaults of a fabric that names none.
std::string lua_dscps(const DscpMap& dscps) {
  std::string text = "local dscp_class = {";
  for (const DscpClass& each : kDscpClasses) {
    const uint8_t value = dscps.*each.member;
    if (class_of(dscps, value) != each.name) continue;  // it is another class's as well
    text += fmt::format("[{}]={}, ", value, lua_string(each.name));
  }
  return text + "}\n";
}

std::string lua_tables(const Topology* topology) {
  std::string text = lua_dscps(topology != nullptr ? topology->dscps : DscpMap{});
  text += "local headers = {\n";
  for_each_mrc_header([&]<const auto & kTable>() {
    text += fmt::format("  {}={}}},\n", kTable.name, lua_header<kTable>());
  });
  text += "}\nlocal probes = {\n";
  for_each_probe_header([&]<const auto & kTable>() {
    text += fmt::format("  {}={}, magic={}}},\n", kTable.name, lua_header<kTable>(), kProbeMagic);
  });
  text += "}\nlocal trailer = " + lua_header<kTrailerTable>();
  text += fmt::format(", magic={},\n  constants={{{}}}}}\n", kTrailerMagic,
                      lua_constants<kTrailerTable>());
  return text +
         (topology != nullptr ? lua_fabric(*topology) : "local fabric = nil\nlocal wires = {}\n");
}

bool is_our_dissector(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) && line.starts_with(kFirstLine);
}

}  // namespace

std::string wireshark_dissector(const Topology* topology) {
  std::string text =
      netio::read_file(data_directory() / "recorded" / "run" / "mrc_dissector.lua", kDissectorMax);
  const size_t at = text.find(kTablesMark);
  if (at == std::string::npos || !text.starts_with(kFirstLine)) {
    throw InputError("recorded/run/mrc_dissector.lua is not what it was when this was built");
  }
  return text.replace(at, kTablesMark.size(), lua_tables(topology));
}

fs::path personal_plugin_folder() {
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') {
    throw InputError("HOME is not set: expected --out DIR in place of --install");
  }
  return fs::path(home) / ".local/lib/wireshark/plugins";
}

fs::path write_dissector(const fs::path& folder, const std::string& text) {
  const fs::path file = folder / "mrclab.lua";
  if (fs::exists(fs::symlink_status(file)) && !is_our_dissector(file)) {
    throw InputError(file.string() +
                     " is there and was not written by mrclab: move it away, or choose --out DIR");
  }
  netio::OutputFolder::make(folder).write_file(file.filename(), text);
  return file;
}

}  // namespace mrclab::lab
