#include "tests/recorded/run/dissector_agreement.h"

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "analysis/capture/open_capture.h"
#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/trailer.h"
#include "fabric/topology/path.h"

namespace mrclab::test {
namespace {

/// What is expected of one packet: a display filter's name, and its value as a number or as text.
struct Expected {
  std::string name;
  std::optional<uint64_t> number;  ///< neither: tshark must not have the field
  std::string text;
};

/// Bits of a header one by one: nothing of the codec's ways.
uint64_t naive_bits(const uint8_t* header, FieldPlace place) {
  uint64_t value = 0;
  for (size_t bit = place.bit; bit < place.bit + place.width; ++bit) {
    value = value << 1 | (header[bit / 8] >> (7 - bit % 8) & 1u);
  }
  return value;
}

/// The named fields of one header, values out of the decoded struct; `decoded` null: must be absent.
template <const auto& kTable, class Header>
void expect(std::vector<Expected>& all, const std::string& prefix, const Header* decoded,
            const uint8_t* bytes) {
  for_each_field<kTable>([&]<class Each>(const Each& each, FieldPlace place) {
    if (each.name.empty()) return;
    Expected expected{prefix + std::string(each.name), std::nullopt, {}};
    if constexpr (!kIsMember<Each>) {
      if (decoded != nullptr) expected.number = naive_bits(bytes, place);
    } else if (decoded != nullptr) {
      const auto& member = decoded->*each.member;
      using Member = std::remove_cvref_t<decltype(member)>;
      if constexpr (std::is_same_v<Member, MacAddress>) {
        expected.text = to_string(member);
      } else if constexpr (std::is_same_v<Member, Ipv6Address>) {
        expected.text = to_string(member);
      } else {
        expected.number = to_bits(member);
      }
    }
    all.push_back(std::move(expected));
  });
}

template <class Header>
const Header* in(const MrcPacket& packet) {
  return std::get_if<Header>(&packet.extension);
}

template <class Optional>
const auto* pointer(const Optional* optional) {
  return optional != nullptr && *optional ? &**optional : nullptr;
}

void expect_mrc(std::vector<Expected>& all, const MrcPacket& p, std::span<const uint8_t> frame) {
  const uint8_t* ext = frame.data() + kAfterBthOffset;
  const auto* write = in<WriteHeaders>(p);
  const Tseth* tseth = write != nullptr ? pointer(&write->tseth) : nullptr;
  const Reth* reth = write != nullptr ? pointer(&write->reth) : nullptr;
  const uint32_t* immediate = write != nullptr ? pointer(&write->immediate) : nullptr;
  const ImmDt immdt{immediate != nullptr ? *immediate : 0};
  expect<kBthTable>(all, "mrc.bth.", &p.bth, frame.data() + kBthOffset);
  expect<kMethTable>(all, "mrc.meth.", write != nullptr ? &write->meth : nullptr, ext);
  expect<kTsethTable>(all, "mrc.tseth.", tseth, ext);
  expect<kRethTable>(all, "mrc.reth.", reth, ext);
  expect<kImmDtTable>(all, "mrc.immdt.", immediate != nullptr ? &immdt : nullptr, ext);
  expect<kAethTable>(all, "mrc.aeth.", in<Aeth>(p), ext);
  expect<kSethTable>(all, "mrc.seth.", in<Seth>(p), ext);
  expect<kCcStateTable>(all, "mrc.cc_state.", in<Seth>(p), ext + kSethTable.bytes());
  expect<kNethTable>(all, "mrc.neth.", in<Neth>(p), ext);
  expect<kPethTable>(all, "mrc.peth.", in<Peth>(p), ext);
  expect<kErthTable>(all, "mrc.erth.", in<Erth>(p), ext);
  expect<kEethTable>(all, "mrc.eeth.", in<Eeth>(p), ext);
  const auto number = [&](const char* name, std::optional<uint64_t> value) {
    all.push_back({name, value, {}});
  };
  number("mrc.ev", p.entropy().value);
  number("mrc.trimmed", p.trimmed);
  number("mrc.payload_length",
         write != nullptr ? std::optional<uint64_t>(p.payload_length) : std::nullopt);
  const auto path = path_of(p.entropy());
  all.push_back({"mrc.path", std::nullopt, path ? to_string(*path) : ""});
  all.push_back({"mrc.class", std::nullopt, std::string(class_of({}, p.outer.dscp()))});
  number("mrc.error", std::nullopt);
}

/// The lower layers are Wireshark's own; they stand in the same table.
void expect_stack(std::vector<Expected>& all, const MrcPacket& p, std::span<const uint8_t> frame) {
  expect<kEthernetTable>(all, "eth.", &p.ethernet, frame.data());
  expect<kIpv6Table>(all, "outer:ipv6.", &p.outer, &frame[kOuterOffset]);
  expect<kIpv6Table>(all, "inner:ipv6.", &p.inner, &frame[kInnerOffset]);
  expect<kUdpTable>(all, "udp.", &p.udp, &frame[kUdpOffset]);
}

void expect_trailer(std::vector<Expected>& all, std::span<const uint8_t> frame) {
  const std::optional<size_t> offset = trailer_offset(frame);
  if (!offset) return;
  const uint8_t* bytes = frame.data() + *offset;
  const auto trailer = parse_trailer(frame.subspan(*offset));
  if (trailer) {
    expect<kTrailerTable>(all, "mrctime.", &*trailer, bytes);
    all.push_back({"mrctime.arrival", to_bits(trailer->end + trailer->flight), {}});
  }
  const bool magic = naive_bits(bytes, {0, 32}) == kTrailerMagic;
  all.push_back(
      {"mrctime.valid", magic ? std::optional<uint64_t>(trailer.has_value()) : std::nullopt, {}});
}

/// All fields that tshark is asked for; a stack's own name stands once for both layers.
std::vector<std::string> columns() {
  std::vector<Expected> all;
  const MrcPacket none;
  const std::vector<uint8_t> zeros(512);
  expect_mrc(all, none, zeros);
  expect_stack(all, none, zeros);
  expect<kTrailerTable, TimeTrailer>(all, "mrctime.", nullptr, zeros.data());
  all.push_back({"mrctime.arrival", {}, {}});
  all.push_back({"mrctime.valid", {}, {}});
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const Expected& expected : all) {
    const size_t layer = expected.name.find(':');
    const std::string name =
        layer == std::string::npos ? expected.name : expected.name.substr(layer + 1);
    if (known.insert(name).second) names.push_back(name);
  }
  return names;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t at = 0;
  for (size_t end; (end = text.find(separator, at)) != std::string::npos; at = end + 1) {
    parts.push_back(text.substr(at, end - at));
  }
  parts.push_back(text.substr(at));
  return parts;
}

bool same_number(std::string text, uint64_t wanted) {
  if (text == "True") text = "1";
  if (text == "False") text = "0";
  char* end = nullptr;
  const uint64_t value = text.starts_with("-")
                             ? static_cast<uint64_t>(std::strtoll(text.c_str(), &end, 0))
                             : std::strtoull(text.c_str(), &end, 0);
  if (text.empty() || end == nullptr || *end != '\0') return false;
  // Signed fields of 16 bits are shown as signed numbers.
  return value == wanted || (text.starts_with("-") && (value & 0xFFFF) == (wanted & 0xFFFF));
}

/// tshark's fields of one packet, by name; an occurrence for each layer that has the field.
using Shown = std::map<std::string, std::vector<std::string>>;

bool agrees(const Expected& expected, const Shown& shown) {
  const size_t layer = expected.name.find(':');
  const std::string name =
      layer == std::string::npos ? expected.name : expected.name.substr(layer + 1);
  const auto& values = shown.at(name);
  if (!expected.number && expected.text.empty()) return values.empty();
  if (values.empty()) return false;
  const std::string& value = expected.name.starts_with("outer:") ? values.front() : values.back();
  return expected.number ? same_number(value, *expected.number) : value == expected.text;
}

void compare_packet(std::span<const uint8_t> bytes, const Shown& shown, Agreement& agreement) {
  // A void frame stands for a lost one, whose headers are shown instead.
  static FramePool pool;
  const Frame lost = unwrap_void_frame(pool, bytes);
  const std::span<const uint8_t> frame = lost ? lost.bytes() : bytes;
  std::vector<Expected> all;
  MrcPacket packet;
  const ParseError error = parse_mrc_frame(frame, packet, {.allow_cut = true});
  if (error == ParseError::kNone) {
    expect_stack(all, packet, frame);
    expect_mrc(all, packet, frame);
    ++agreement.mrc;
    const bool rtx = packet.bth.retransmission;
    ++agreement.kinds[std::string(packet.trimmed ? "trimmed " : "") + (rtx ? "sent again " : "") +
                      std::string(name_of(packet.bth.opcode))];
  } else if (!shown.at("mrc.bth.opcode").empty() && shown.at("mrc.error").empty()) {
    // It may take plain IPv6, which is none of our own stack's; else it must report what is wrong.
    if (error != ParseError::kNotIpInIp)
      all.push_back({"mrc.error", {}, std::string(name_of(error))});
  }
  const size_t before = all.size();
  expect_trailer(all, bytes);
  agreement.trailers += all.size() > before + 1 ? 1 : 0;
  for (const Expected& expected : all) {
    ++agreement.fields;
    if (agrees(expected, shown)) continue;
    ++agreement.wrong;
    if (!agreement.first_wrong.empty()) continue;
    agreement.first_wrong =
        "packet " + std::to_string(agreement.packets) + " " + expected.name + ": ours " +
        (expected.number ? std::to_string(*expected.number) : expected.text) + ", tshark's";
    for (const std::string& value : shown.at(expected.name.substr(expected.name.find(':') + 1))) {
      agreement.first_wrong += " " + value;
    }
  }
}

}  // namespace

void compare(const Tshark& tshark, const std::filesystem::path& capture, Agreement& agreement) {
  const std::vector<std::string> names = columns();
  std::string options = "-T fields -E separator=/t -E aggregator=, -E occurrence=a";
  for (const std::string& name : names) options += " -e " + name;
  const auto reader = analysis::open_capture(capture);
  uint64_t lines = 0, records = 0;
  tshark.lines(capture, options, [&](const std::string& line) {
    ++lines;
    analysis::CaptureRecord record;
    const std::vector<std::string> cells = split(line, '\t');
    if (cells.size() != names.size() || !reader->next(record)) {
      if (agreement.first_wrong.empty()) agreement.first_wrong = "a line of its own: " + line;
      ++agreement.wrong;
      return;
    }
    ++records;
    ++agreement.packets;
    Shown shown;
    for (size_t i = 0; i < names.size(); ++i) {
      shown[names[i]] = cells[i].empty() ? std::vector<std::string>{} : split(cells[i], ',');
    }
    compare_packet(record.bytes, shown, agreement);
  });
  analysis::CaptureRecord record;
  CHECK_FALSE(reader->next(record));
  CHECK(lines == records);
}

}  // namespace mrclab::test
