#pragma once
// Reports between processes as JSON, out of their tables (fabric/text/report_table.h). Reading is
// strict: a key that is missing, unknown or of another kind is a ReportError that names it, and a
// missing value never counts as zero.

#include <concepts>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/text/report_table.h"

namespace mrclab {

/// Names what is wrong with a report, and where: `work[2].done: found "x": expected a number`.
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The place of a value in a report, for errors. It becomes text only when something is wrong.
struct ReportPlace {
  const ReportPlace* up = nullptr;
  std::string_view key;
  size_t index = SIZE_MAX;
  [[noreturn]] void fail(const std::string& problem) const;
  [[noreturn]] void fail_kind(const nlohmann::json& found, std::string_view expected) const;
};

/// The value of a key that must be there. The error of `value.at(key)` would not name it.
const nlohmann::json& required_key(const nlohmann::json& object, std::string_view key,
                                   const ReportPlace& place);
/// Throws if an object, which has all the keys of `known`, has another one as well.
void refuse_more_keys(const nlohmann::json& object, const std::vector<std::string_view>& known,
                      const ReportPlace& place);
const nlohmann::json& required_object(const nlohmann::json& value, const ReportPlace& place);
const nlohmann::json& required_list(const nlohmann::json& value, const ReportPlace& place);
uint64_t required_unsigned(const nlohmann::json& value, uint64_t max, const ReportPlace& place);
int64_t required_signed(const nlohmann::json& value, const ReportPlace& place);
/// Parses text; a ReportError if it is no JSON, or nests too deep.
nlohmann::json parse_report(std::string_view text);

/// A report as a file: one key more, the CRC-32 of all others, so that no part of it and no other
/// number is taken for the report.
std::string sealed_report(nlohmann::json report);
/// The report in such a file, without that key. Throws ReportError.
nlohmann::json parse_sealed_report(std::string_view text);

inline nlohmann::json report_value(const nlohmann::json& value) { return value; }
inline nlohmann::json report_value(const std::string& value) { return value; }
inline nlohmann::json report_value(FabricTime value) { return value.ps(); }
inline nlohmann::json report_value(Bytes value) { return value.value; }
inline nlohmann::json report_value(Qpn value) { return value.value; }
template <std::integral T>
nlohmann::json report_value(T value) {
  return value;
}
template <class T>
nlohmann::json report_value(const std::vector<T>& list);
template <class T>
nlohmann::json report_value(const std::map<std::string, T>& map);
template <class T>
requires kHasReportTable<T> nlohmann::json report_value(const T& report);

inline void read_value(const nlohmann::json& value, nlohmann::json& into, const ReportPlace&) {
  into = value;
}
void read_value(const nlohmann::json& value, std::string& into, const ReportPlace& place);
void read_value(const nlohmann::json& value, bool& into, const ReportPlace& place);
void read_value(const nlohmann::json& value, FabricTime& into, const ReportPlace& place);
void read_value(const nlohmann::json& value, int64_t& into, const ReportPlace& place);
void read_value(const nlohmann::json& value, Bytes& into, const ReportPlace& place);
void read_value(const nlohmann::json& value, Qpn& into, const ReportPlace& place);
template <std::unsigned_integral T>
void read_value(const nlohmann::json& value, T& into, const ReportPlace& place) {
  into = static_cast<T>(required_unsigned(value, std::numeric_limits<T>::max(), place));
}
template <class T>
void read_value(const nlohmann::json& value, std::vector<T>& into, const ReportPlace& place);
template <class T>
void read_value(const nlohmann::json& value, std::map<std::string, T>& into,
                const ReportPlace& place);
template <class T>
requires kHasReportTable<T>
void read_value(const nlohmann::json& value, T& into, const ReportPlace& place);

/// Writes and reads one entry of a table: a member, or counts by name.
template <class Report, class Member>
nlohmann::json entry_value(const Report& report, const ReportEntry<Report, Member>& entry) {
  return report_value(report.*entry.member);
}
template <class Report, size_t kCount>
nlohmann::json entry_value(const Report& report, const ReportCounts<Report, kCount>& entry) {
  nlohmann::json object = nlohmann::json::object();
  for (size_t i = 0; i < kCount; ++i) object[entry.name(i)] = (report.*entry.member)[i];
  return object;
}
template <class Report, class Member>
void read_entry(const nlohmann::json& value, Report& report,
                const ReportEntry<Report, Member>& entry, const ReportPlace& place) {
  read_value(value, report.*entry.member, place);
}
template <class Report, size_t kCount>
void read_entry(const nlohmann::json& value, Report& report,
                const ReportCounts<Report, kCount>& entry, const ReportPlace& place) {
  std::vector<std::string_view> known;
  for (size_t i = 0; i < kCount; ++i) {
    known.push_back(entry.name(i));
    const ReportPlace here{&place, known.back()};
    read_value(required_key(value, known.back(), place), (report.*entry.member)[i], here);
  }
  refuse_more_keys(value, known, place);
}

template <class T>
nlohmann::json report_value(const std::vector<T>& list) {
  nlohmann::json array = nlohmann::json::array();
  for (const T& value : list) array.push_back(report_value(value));
  return array;
}

template <class T>
nlohmann::json report_value(const std::map<std::string, T>& map) {
  nlohmann::json object = nlohmann::json::object();
  for (const auto& [key, value] : map) object[key] = report_value(value);
  return object;
}

template <class T>
requires kHasReportTable<T> nlohmann::json report_value(const T& report) {
  constexpr auto kTable = kReportTable<T>;
  return std::apply(
      [&](const auto&... entries) {
        if (kTable.is_list) return nlohmann::json::array({entry_value(report, entries)...});
        nlohmann::json object = nlohmann::json::object();
        ((object[entries.key] = entry_value(report, entries)), ...);
        return object;
      },
      kTable.entries);
}

template <class T>
void read_value(const nlohmann::json& value, std::vector<T>& into, const ReportPlace& place) {
  into.clear();
  for (const nlohmann::json& item : required_list(value, place)) {
    const ReportPlace here{&place, {}, into.size()};
    read_value(item, into.emplace_back(), here);
  }
}

template <class T>
void read_value(const nlohmann::json& value, std::map<std::string, T>& into,
                const ReportPlace& place) {
  into.clear();
  for (const auto& [key, item] : required_object(value, place).items()) {
    read_value(item, into[key], ReportPlace{&place, key});
  }
}

template <class T>
requires kHasReportTable<T>
void read_value(const nlohmann::json& value, T& into, const ReportPlace& place) {
  constexpr auto kTable = kReportTable<T>;
  std::apply(
      [&](const auto&... entries) {
        if (kTable.is_list) {
          if (required_list(value, place).size() != sizeof...(entries)) {
            place.fail_kind(value, std::to_string(sizeof...(entries)) + " values");
          }
          size_t i = 0;
          (read_entry(value[i++], into, entries, ReportPlace{&place, entries.key}), ...);
          return;
        }
        (read_entry(required_key(value, entries.key, place), into, entries,
                    ReportPlace{&place, entries.key}),
         ...);
        refuse_more_keys(value, {entries.key...}, place);
      },
      kTable.entries);
}

template <class T>
requires kHasReportTable<T> nlohmann::json report_to_json(const T& report) {
  return report_value(report);
}

/// Throws ReportError. `place` is where the report stands in another.
template <class T>
requires kHasReportTable<T> T report_from_json(const nlohmann::json& json,
                                               const ReportPlace& place = {}) {
  T report;
  read_value(json, report, place);
  return report;
}

}  // namespace mrclab
