#include "lab/serve/page_host.h"

#include <algorithm>
#include <vector>

namespace mrclab::lab {
namespace {

constexpr uint16_t kHttpPort = 80;

std::string lower(std::string_view text) {
  std::string made(text);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return made;
}

}  // namespace

std::string host_text(std::string_view name, uint16_t port) {
  std::string text(name);
  if (name.find(':') != std::string_view::npos) text = "[" + text + "]";
  return port == kHttpPort ? text : text + ":" + std::to_string(port);
}

bool names_page(std::string_view host, const PageHost& us) {
  std::string asked = lower(host);
  const std::string http_port = ":" + std::to_string(kHttpPort);
  // A client may write the port all the same.
  if (us.port == kHttpPort && asked.ends_with(http_port)) {
    asked.resize(asked.size() - http_port.size());
  }
  std::vector<std::string> names{us.local};
  if (us.loopback) names.emplace_back("localhost");
  if (us.any) names.insert(names.end(), {"0.0.0.0", "::"});
  if (!us.loopback && !us.machine.empty()) {
    names.push_back(lower(us.machine));
    names.push_back(lower(us.machine) + ".local");
  }
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return !name.empty() && asked == host_text(name, us.port);
  });
}

}  // namespace mrclab::lab
