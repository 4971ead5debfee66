#include "fabric/history/report_json.h"

#include <algorithm>

#include "fabric/history/evidence_seal.h"
#include "fabric/text/json_text.h"
#include "fabric/text/yaml.h"

namespace mrclab {
namespace {

constexpr const char* kSealKey = "crc32";

/// CRC-32 of the values and their names; line breaks and spaces do not count.
uint32_t checksum_of(const nlohmann::json& report) { return checksum(0, report.dump()); }

std::string text_of(const ReportPlace& place) {
  const std::string before = place.up == nullptr ? "" : text_of(*place.up);
  if (place.index != SIZE_MAX) return before + "[" + std::to_string(place.index) + "]";
  if (before.empty()) return std::string(place.key);
  return before + "." + std::string(place.key);
}

}  // namespace

void ReportPlace::fail(const std::string& problem) const {
  const std::string where = text_of(*this);
  throw ReportError(where.empty() ? problem : where + ": " + problem);
}

void ReportPlace::fail_kind(const nlohmann::json& found, std::string_view expected) const {
  fail("found " + in_quotes(found.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace)) +
       ": expected " + std::string(expected));
}

const nlohmann::json& required_object(const nlohmann::json& value, const ReportPlace& place) {
  if (!value.is_object()) place.fail_kind(value, "an object");
  return value;
}

const nlohmann::json& required_list(const nlohmann::json& value, const ReportPlace& place) {
  if (!value.is_array()) place.fail_kind(value, "a list");
  return value;
}

const nlohmann::json& required_key(const nlohmann::json& object, std::string_view key,
                                   const ReportPlace& place) {
  const auto found = required_object(object, place).find(key);
  if (found == object.end()) place.fail("found no " + in_quotes(key));
  return *found;
}

void refuse_more_keys(const nlohmann::json& object, const std::vector<std::string_view>& known,
                      const ReportPlace& place) {
  if (object.size() == known.size()) return;
  for (const auto& item : object.items()) {
    if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
    place.fail("found " + in_quotes(item.key()) + ", which no report has");
  }
}

uint64_t required_unsigned(const nlohmann::json& value, uint64_t max, const ReportPlace& place) {
  if (!value.is_number_unsigned()) place.fail_kind(value, "a number from 0 on");
  const auto number = value.get<uint64_t>();
  if (number > max) place.fail_kind(value, "at most " + std::to_string(max));
  return number;
}

int64_t required_signed(const nlohmann::json& value, const ReportPlace& place) {
  const bool too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!value.is_number_integer() || too_large) place.fail_kind(value, "a whole number");
  return value.get<int64_t>();
}

nlohmann::json parse_report(std::string_view text) {
  nlohmann::json json = parse_json<nlohmann::json>(text);
  if (json.is_discarded()) throw ReportError("it is no JSON, or not all of it");
  return json;
}

std::string sealed_report(nlohmann::json report) {
  report[kSealKey] = checksum_of(report);
  return report.dump(1) + "\n";
}

nlohmann::json parse_sealed_report(std::string_view text) {
  nlohmann::json report = parse_report(text);
  const nlohmann::json seal = required_key(report, kSealKey, {});
  report.erase(kSealKey);
  if (seal != checksum_of(report)) throw ReportError("it was cut or changed since it was written");
  return report;
}

void read_value(const nlohmann::json& value, std::string& into, const ReportPlace& place) {
  if (!value.is_string()) place.fail_kind(value, "text");
  into = value.get<std::string>();
}

void read_value(const nlohmann::json& value, bool& into, const ReportPlace& place) {
  if (!value.is_boolean()) place.fail_kind(value, "true or false");
  into = value.get<bool>();
}

void read_value(const nlohmann::json& value, FabricTime& into, const ReportPlace& place) {
  into = FabricTime::from_ps(required_signed(value, place));
}

void read_value(const nlohmann::json& value, int64_t& into, const ReportPlace& place) {
  into = required_signed(value, place);
}

void read_value(const nlohmann::json& value, Bytes& into, const ReportPlace& place) {
  into.value = required_unsigned(value, UINT64_MAX, place);
}

void read_value(const nlohmann::json& value, Qpn& into, const ReportPlace& place) {
  into.value = static_cast<uint32_t>(required_unsigned(value, Psn::kMask, place));
}

}  // namespace mrclab
