#pragma once
// One command of the page on its way: its words, and the session that it is for.

#include <string>

#include "fabric/text/yaml.h"
#include "session/session_commands.h"

namespace mrclab::lab {

struct Order {
  PlayedSession& played;
  const nlohmann::json& words;
  const FabricSession::GoOn& go_on;
  FabricSession& session() const { return played.session(); }
  int64_t whole(const char* key, int64_t min, int64_t max) const {
    const nlohmann::json& value = words.at(key);
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX) &&
                      value.get<int64_t>() >= min && value.get<int64_t>() <= max;
    if (fits) return value.get<int64_t>();
    throw InputError(std::string(key) + ": found " + value.dump() +
                     ": expected a whole number from " + std::to_string(min) + " to " +
                     std::to_string(max));
  }
  uint32_t number(const char* key) const {
    return static_cast<uint32_t>(whole(key, 0, UINT32_MAX));
  }
  FabricTime time(const char* key) const {
    return FabricTime::from_ps(whole(key, INT64_MIN, INT64_MAX));
  }
  bool fork() const { return words.value("fork", false); }
};

// Those that only look (session_commands.h has their words).
SessionAnswer packets(const Order& order);
SessionAnswer packet(const Order& order);
SessionAnswer use(const Order& order);
SessionAnswer sack(const Order& order);
SessionAnswer host(const Order& order);
SessionAnswer inspect(const Order& order);
SessionAnswer yaml(const Order& order);
SessionAnswer history(const Order& order);
SessionAnswer judge(const Order& order);
SessionAnswer difference(const Order& order);
SessionAnswer answer(const Order& order);

}  // namespace mrclab::lab
