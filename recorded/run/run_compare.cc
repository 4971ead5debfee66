// Two verdicts side by side, for a terminal and as data.

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "recorded/run/run_report.h"

namespace mrclab::lab {
namespace {

using Ordered = nlohmann::ordered_json;

struct Compared {
  std::string what;
  Ordered a, b;  // a number, a word, or null
  std::string unit;
  std::string result_a, result_b;  // results of a check; empty where a run has no such check
  bool check = false;
};

Ordered value_at(const Ordered& verdict, const char* pointer) {
  return verdict.value(Ordered::json_pointer(pointer), Ordered(nullptr));
}

std::string text_in(const Ordered& check, const char* key) {
  return check.contains(key) && check[key].is_string() ? check[key].get<std::string>() : "";
}

/// A check's name that is its own, also where the same is asked twice.
std::vector<std::pair<std::string, const Ordered*>> named_checks(const Ordered& verdict) {
  std::vector<std::pair<std::string, const Ordered*>> checks;
  std::map<std::string, int> seen;
  for (const Ordered& check : verdict["checks"]) {
    std::string name = text_in(check, "about");
    if (name.empty()) name = text_in(check, "name");
    if (const int times = ++seen[name]; times > 1) name += fmt::format(" ({})", times);
    checks.emplace_back(std::move(name), &check);
  }
  return checks;
}

std::vector<Compared> rows_of(const Ordered& a, const Ordered& b) {
  const auto pair = [&](const char* what, const char* pointer, const char* unit) {
    return Compared{what, value_at(a, pointer), value_at(b, pointer), unit, {}, {}};
  };
  std::vector<Compared> rows{pair("result", "/result", ""),
                             pair("world", "/world", ""),
                             pair("seed", "/seed", ""),
                             pair("faithful", "/timing/faithful", ""),
                             pair("goodput", "/metrics/goodput_bps", "b/s"),
                             pair("baseline", "/metrics/baseline_bps", "b/s"),
                             pair("delivered", "/metrics/delivered", "packets"),
                             pair("lost", "/metrics/lost", "packets"),
                             pair("trimmed", "/metrics/trimmed", "packets"),
                             pair("retransmitted", "/metrics/retransmitted", "packets")};
  const auto of_a = named_checks(a), of_b = named_checks(b);
  const auto find = [](const auto& checks, const std::string& name) -> const Ordered* {
    for (const auto& [known, check] : checks) {
      if (known == name) return check;
    }
    return nullptr;
  };
  const auto add = [&](const std::string& name, const Ordered* x, const Ordered* y) {
    Compared row{name, nullptr, nullptr, text_in(x != nullptr ? *x : *y, "unit"), {}, {}, true};
    if (x != nullptr)
      row.a = x->value("measured", Ordered(nullptr)), row.result_a = text_in(*x, "result");
    if (y != nullptr)
      row.b = y->value("measured", Ordered(nullptr)), row.result_b = text_in(*y, "result");
    rows.push_back(std::move(row));
  };
  for (const auto& [name, check] : of_a) add(name, check, find(of_b, name));
  for (const auto& [name, check] : of_b) {
    if (find(of_a, name) == nullptr) add(name, nullptr, check);
  }
  return rows;
}

Ordered b_less_a(const Compared& row) {
  if (!row.a.is_number() || !row.b.is_number()) return nullptr;
  if (row.a.is_number_integer() && row.b.is_number_integer()) {
    return row.b.get<int64_t>() - row.a.get<int64_t>();
  }
  return row.b.get<double>() - row.a.get<double>();
}

std::string shown_value(const Ordered& value, const std::string& unit, bool sign) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (!value.is_number()) return "?";
  const double number = value.get<double>();
  const char* plus = sign && number > 0 ? "+" : "";
  if (unit == "b/s") return fmt::format("{}{:.3f} Tb/s", plus, number * 1e-12);
  return value.is_number_integer() ? fmt::format("{}{}", plus, value.get<int64_t>())
                                   : fmt::format("{}{:.2f}", plus, number);
}

std::string shortened(const std::string& text, size_t width) {
  return text.size() <= width ? text : text.substr(0, width - 2) + "..";
}

/// "pass", or "pass -> FAIL" in capitals where the runs differ.
std::string change_of(const Compared& row) {
  const auto word = [](const std::string& result) { return result.empty() ? "not asked" : result; };
  if (row.result_a == row.result_b) return word(row.result_a);
  std::string text = word(row.result_a) + " -> " + word(row.result_b);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

}  // namespace

std::string compare_text(const Ordered& a, const Ordered& b) {
  std::string text = fmt::format("{:<26} {:>15} {:>15} {:>14}\n", "", "A", "B", "difference") +
                     std::string(80, '-') + "\n";
  bool checks = false;
  for (const Compared& row : rows_of(a, b)) {
    if (row.check && !checks) text += std::string(80, '-') + "\n";
    checks = checks || row.check;
    const Ordered less = b_less_a(row);
    const std::string apart = less.is_null() ? (row.a == row.b ? "" : "differs")
                              : less == 0    ? "="
                                             : shown_value(less, row.unit, true);
    const std::string unit = row.unit == "b/s" ? "" : shortened(row.unit, 24);
    if (row.check) {
      text += shortened(fmt::format("{}  [{}]", row.what, change_of(row)), 80) + "\n";
    }
    std::string line = fmt::format(
        "{:<26} {:>15} {:>15} {:>14}", row.check ? "    " + shortened(unit, 22) : row.what,
        shortened(shown_value(row.a, row.unit, false), 15),
        shortened(shown_value(row.b, row.unit, false), 15), shortened(apart, 14));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

Ordered compare_json(const Ordered& a, const Ordered& b) {
  Ordered list = Ordered::array();
  for (const Compared& row : rows_of(a, b)) {
    Ordered entry{{"what", row.what},
                  {"a", row.a},
                  {"b", row.b},
                  {"difference", b_less_a(row)},
                  {"unit", row.unit}};
    if (row.check) entry["results"] = {row.result_a, row.result_b};
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace mrclab::lab
