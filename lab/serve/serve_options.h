#pragma once
// Where the page's server listens, whom it lets in, and what it has beside the page.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "lab/serve/page_limits.h"

namespace mrclab::lab {

struct ServeOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  ///< 0: any that is free
  std::string token;  ///< empty: a random one
  size_t max_clients = PageLimits::kMaxClients;
  /// Of a class: a second token, by which one may join as the teacher and read what `document` returns for a path,
  /// nothing for one that it does not have. It is called by the server's thread.
  std::string teacher_token = {};
  /// GET /metrics?node=PATTERN, with the token, also as "Authorization: Bearer". Called by the server's thread.
  struct Metrics {
    std::string text;
    bool refused = false;  ///< the text is the reason
  };
  std::function<std::optional<Metrics>(const std::string& only)> metrics = {};
  struct Document {
    std::string media_type, text;
  };
  std::function<std::optional<Document>(std::string_view path)> document = {};
};

}  // namespace mrclab::lab
