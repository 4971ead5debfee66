#include "job/serve/request_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "fabric/text/input_error.h"
#include "fabric/text/json_text.h"
#include "fabric/text/words.h"

namespace mrclab::job {
namespace {

using nlohmann::json;

/// What a table's columns are called, or a line's members.
struct RequestNames {
  RequestFormat format;
  std::string_view word, time, input, output;
};
constexpr std::array<RequestNames, 4> kRequestNames{
    {{RequestFormat::kAzure, "azure", "TIMESTAMP", "ContextTokens", "GeneratedTokens"},
     {RequestFormat::kMooncake, "mooncake", "timestamp", "input_length", "output_length"},
     {RequestFormat::kBurstGpt, "burstgpt", "Timestamp", "Request tokens", "Response tokens"},
     {RequestFormat::kVidur, "vidur", "arrived_at", "num_prefill_tokens", "num_decode_tokens"}}};

constexpr int64_t kNanosecondsOfSecond = 1'000'000'000;

/// Of a trace: what picoseconds in 64 bits reach.
constexpr int64_t kMaxTraceSeconds = 9'000'000;

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::optional<int64_t> count_up_to(std::string_view text, int64_t most) {
  const auto value = whole_number(text);
  if (!value || *value > static_cast<uint64_t>(most)) return {};
  return static_cast<int64_t>(*value);
}

/// "27.125" in billionths; digits behind the ninth are dropped.
std::optional<int64_t> billionths(std::string_view text, int64_t most_whole) {
  const size_t point = text.find('.');
  const auto whole = count_up_to(text.substr(0, point), most_whole);
  if (!whole) return {};
  std::string_view digits;
  if (point != std::string_view::npos) digits = text.substr(point + 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return {};
  int64_t fraction = 0;
  for (size_t i = 0; i < 9; ++i)
    fraction = fraction * 10 + (i < digits.size() ? digits[i] - '0' : 0);
  return *whole * kNanosecondsOfSecond + fraction;
}

/// Days from 1970-01-01 (Hinnant, chrono-compatible low-level date algorithms).
int64_t days_from_civil(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  const int64_t era = year / 400, of_era = year - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/// "2023-11-16 18:17:03.9799600", also with a T, and with an offset of no hours.
std::optional<int64_t> date_nanoseconds(std::string_view text) {
  for (const std::string_view zero : {"+00:00", "Z"}) {
    if (text.ends_with(zero)) text.remove_suffix(zero.size());
  }
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kShape.size()) return {};
  for (size_t i = 0; i < kShape.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    const bool fits = kShape[i] == 'd'   ? digit
                      : kShape[i] == ' ' ? c == ' ' || c == 'T'
                                         : c == kShape[i];
    if (!fits) return {};
  }
  const auto part = [&](size_t at, size_t digits, int64_t most) {
    return count_up_to(text.substr(at, digits), most);
  };
  const auto year = part(0, 4, 2200), month = part(5, 2, 12), day = part(8, 2, 31),
             hour = part(11, 2, 23), minute = part(14, 2, 59);
  const auto second = billionths(text.substr(17), 60);
  if (!year || !month || !day || !hour || !minute || !second) return {};
  if (*year < 1970 || *month < 1 || *day < 1) return {};
  const int64_t seconds =
      days_from_civil(*year, *month, *day) * 86400 + *hour * 3600 + *minute * 60;
  return seconds * kNanosecondsOfSecond + *second;
}

class RequestReader {
 public:
  RequestReader(const std::string& name, uint32_t at_most) : name_(name), at_most_(at_most) {}

  RequestTrace read(std::string_view text, std::optional<RequestFormat> format) {
    while (!text.empty() && arrivals_.size() < at_most_) {
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      ++line_;
      if (line.size() > kMaxRequestLine) fail("a line of at most 64 KiB");
      line = trimmed(line);
      if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
      if (line.empty()) continue;
      if (names_ == nullptr) {
        find_format(line, format);
        if (names_->format != RequestFormat::kMooncake) continue;
      }
      names_->format == RequestFormat::kMooncake ? read_object(line) : read_row(line);
    }
    if (arrivals_.empty()) {
      throw InputError(name_ +
                       ": no request: expected a trace of azure, mooncake, burstgpt or vidur");
    }
    return made();
  }

 private:
  struct Arrival {
    int64_t ns = 0;
    uint32_t input = 0, output = 0;
  };

  [[noreturn]] void fail(const std::string& expected) const {
    throw InputError(fmt::format("{}:{}: expected {}", name_, line_, expected));
  }

  static std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(',', at), line.size());
      fields.push_back(trimmed(line.substr(at, end - at)));
      at = end + 1;
    }
    return fields;
  }

  /// By the first line that is not empty.
  void find_format(std::string_view line, std::optional<RequestFormat> format) {
    const std::vector<std::string_view> head = fields_of(line);
    const auto column = [&](std::string_view name) {
      return static_cast<size_t>(std::find(head.begin(), head.end(), name) - head.begin());
    };
    for (const RequestNames& names : kRequestNames) {
      if (format && names.format != *format) continue;
      if (names.format == RequestFormat::kMooncake) {
        if (line.starts_with('{')) names_ = &names;
        continue;
      }
      const size_t time = column(names.time), input = column(names.input),
                   output = column(names.output);
      if (std::max({time, input, output}) == head.size()) continue;
      names_ = &names;
      time_ = time;
      input_ = input;
      output_ = output;
      columns_ = head.size();
    }
    if (names_ != nullptr) return;
    if (!format) {
      fail("the head of a table of azure, burstgpt or vidur, or an object of mooncake");
    }
    const RequestNames& names = kRequestNames[static_cast<size_t>(*format)];
    if (names.format == RequestFormat::kMooncake) fail("an object, as mooncake has it");
    fail(fmt::format("a head with {}, {} and {}", names.time, names.input, names.output));
  }

  int64_t tokens(std::optional<int64_t> number, std::string_view what) const {
    if (!number) fail(fmt::format("{}, 0 to {}", what, kMaxTokens));
    return *number;
  }
  /// "374", also "374.0"
  static std::optional<int64_t> token_field(std::string_view text) {
    const auto number = billionths(text, kMaxTokens);
    return number ? std::optional(*number / kNanosecondsOfSecond) : std::nullopt;
  }

  void read_row(std::string_view line) {
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.size() != columns_) fail(fmt::format("{} columns, as in the head", columns_));
    const std::string_view time = fields[time_];
    const auto ns = names_->format == RequestFormat::kAzure ? date_nanoseconds(time)
                                                            : billionths(time, kMaxTraceSeconds);
    if (!ns) {
      fail(names_->format == RequestFormat::kAzure
               ? "a date such as 2023-11-16 18:17:03.9799600"
               : fmt::format("{} in seconds, 0 to {}", names_->time, kMaxTraceSeconds));
    }
    const int64_t input = tokens(token_field(fields[input_]), names_->input);
    add(*ns, input, tokens(token_field(fields[output_]), names_->output));
  }

  void read_object(std::string_view line) {
    const json object = parse_json<json>(line);
    if (!object.is_object()) fail("a JSON object");
    const auto number = [&](std::string_view key, int64_t most) -> int64_t {
      const auto found = object.find(std::string(key));
      if (found != object.end() && found->is_number_unsigned()) {
        const auto value = found->get<uint64_t>();
        if (value <= static_cast<uint64_t>(most)) return static_cast<int64_t>(value);
      }
      // Milliseconds of some traces have fractions.
      if (found != object.end() && found->is_number_float()) {
        const double value = found->get<double>();
        if (value >= 0 && value <= static_cast<double>(most)) return static_cast<int64_t>(value);
      }
      fail(fmt::format("a number \"{}\", 0 to {}", key, most));
    };
    const int64_t ms = number(names_->time, kMaxTraceSeconds * 1000);
    const int64_t input = number(names_->input, kMaxTokens);
    add(ms * 1'000'000, input, number(names_->output, kMaxTokens));
  }

  void add(int64_t ns, int64_t input, int64_t output) {
    if (input == 0 || output == 0) {
      ++failed_;
      return;
    }
    arrivals_.push_back({ns, static_cast<uint32_t>(input), static_cast<uint32_t>(output)});
  }

  RequestTrace made() {
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.ns < b.ns; });
    RequestTrace trace{names_->format, {}, failed_};
    for (const Arrival& arrival : arrivals_) {
      const int64_t since = arrival.ns - arrivals_.front().ns;
      if (since > kMaxTraceSeconds * kNanosecondsOfSecond) {
        throw InputError(
            fmt::format("{}: expected requests of at most {} s", name_, kMaxTraceSeconds));
      }
      trace.requests.push_back({FabricTime::from_ns(since), arrival.input, arrival.output});
    }
    return trace;
  }

  const std::string& name_;
  const uint32_t at_most_;
  uint32_t line_ = 0, failed_ = 0;
  const RequestNames* names_ = nullptr;
  size_t time_ = 0, input_ = 0, output_ = 0, columns_ = 0;
  std::vector<Arrival> arrivals_;
};

}  // namespace

std::string_view name_of(RequestFormat format) {
  return kRequestNames[static_cast<size_t>(format)].word;
}

std::optional<RequestFormat> request_format_named(std::string_view word) {
  for (const RequestNames& names : kRequestNames) {
    if (names.word == word) return names.format;
  }
  return std::nullopt;
}

RequestTrace read_requests(std::string_view text, const std::string& name,
                           std::optional<RequestFormat> format, uint32_t at_most) {
  return RequestReader(name, at_most).read(text, format);
}

}  // namespace mrclab::job
