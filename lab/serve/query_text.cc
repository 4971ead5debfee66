#include "lab/serve/query_text.h"

#include <algorithm>

namespace mrclab::lab {
namespace {

std::string decoded(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char small = static_cast<char>(c | 0x20);
    return small >= 'a' && small <= 'f' ? small - 'a' + 10 : -1;
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? digit(text[i + 1]) : -1;
    const int low = high >= 0 ? digit(text[i + 2]) : -1;
    if (low >= 0) {
      plain += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

}  // namespace

std::string query_value(std::string_view target, std::string_view key) {
  size_t at = target.find('?');
  while (at < target.size()) {
    const size_t end = std::min(target.find('&', at + 1), target.size());
    const std::string_view pair = target.substr(at + 1, end - at - 1);
    const size_t equals = std::min(pair.find('='), pair.size());
    if (pair.substr(0, equals) == key && equals < pair.size()) {
      return decoded(pair.substr(equals + 1));
    }
    at = end;
  }
  return "";
}

}  // namespace mrclab::lab
