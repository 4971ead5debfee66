#pragma once
// Tables for reports from one process to another: the keys, and the members that
// they stand for. Writer and reader walk the same table (fabric/history/report_json.h),
// so that neither can use a key that the other lacks. Every key is
// required and no other is accepted: a report is whole or an error.
//
//   template <>
//   inline constexpr auto kReportTable<Gap> = report_table<Gap>(
//       entry("wire", &Gap::wire), entry("sequence", &Gap::sequence));
//
// A table that leaves out a member of its struct does not compile.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace mrclab {

template <class Report, class Member>
struct ReportEntry {
  std::string_view key;
  Member Report::*member;
};

/// Counts by the values of an enumeration, under their names: an object within the object.
template <class Report, size_t kCount>
struct ReportCounts {
  std::string_view key;
  std::array<uint64_t, kCount> Report::*member;
  std::string_view (*name)(size_t value);
};

template <class Report, class Member>
constexpr ReportEntry<Report, Member> entry(std::string_view key, Member Report::*member) {
  return {key, member};
}
template <class Report, size_t kCount>
constexpr ReportCounts<Report, kCount> counts(std::string_view key,
                                              std::array<uint64_t, kCount> Report::*member,
                                              std::string_view (*name)(size_t value)) {
  return {key, member, name};
}

template <class... Entries>
struct ReportTable {
  std::tuple<Entries...> entries;
  bool is_list;  ///< written as a list of values without keys, for a struct of which there are many
};

namespace report_table_detail {

struct AnyMember {
  template <class T>
  constexpr operator T() const noexcept;  // NOLINT: only asked for, never called
};

template <class Report, class... Members>
consteval size_t member_count() {
  if constexpr (requires { Report{Members{}..., AnyMember{}}; }) {
    return member_count<Report, Members..., AnyMember>();
  } else {
    return sizeof...(Members);
  }
}

}  // namespace report_table_detail

template <class Report, class... Entries>
constexpr ReportTable<Entries...> report_table(Entries... entries) {
  static_assert(sizeof...(Entries) == report_table_detail::member_count<Report>(),
                "a table names every member of its report");
  return {{entries...}, false};
}
template <class Report, class... Entries>
constexpr ReportTable<Entries...> report_list(Entries... entries) {
  static_assert(sizeof...(Entries) == report_table_detail::member_count<Report>(),
                "a table names every member of its report");
  return {{entries...}, true};
}

/// The table of a report; specialized beside each struct that is one, or a part of one.
template <class Report>
inline constexpr std::nullptr_t kReportTable = nullptr;
template <class Report>
inline constexpr bool kHasReportTable =
    !std::is_same_v<std::remove_cvref_t<decltype(kReportTable<Report>)>, std::nullptr_t>;

}  // namespace mrclab
