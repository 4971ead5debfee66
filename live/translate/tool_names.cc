#include "live/translate/tool_names.h"

#include <algorithm>
#include <set>

namespace mrclab::lab {
namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// `name` of a fabric: a-z, 0-9, dots and dashes.
std::string with_rule(const std::string& name, const NameRule& rule) {
  std::string made = name;
  for (char& c : made) {
    if (c == '.' || (c == '-' && !rule.dashes)) c = rule.separator;
  }
  if (!is_letter(made.front()) && (rule.letter_first || !is_digit(made.front()))) {
    made = "n" + made;
  }
  if (!is_letter(made.back()) && !is_digit(made.back())) made += "x";
  return made;
}

}  // namespace

NameRule containerlab_names() {
  return {'-',
          true,
          false,
          {"host", "mgmt-net", "macvlan", "veth", "veth-stitch", "vxlan", "vxlan-stitch", "dummy",
           "brief", "bridge"}};
}
NameRule netlab_names() { return {'-', true, true, {}}; }
NameRule kathara_names() { return {'_', false, false, {"shared"}}; }

std::vector<std::string> tool_names(const Topology& topology, const NameRule& rule) {
  std::vector<std::string> names;
  std::set<std::string> taken(rule.reserved.begin(), rule.reserved.end());
  for (const NodeSite& site : topology.nodes) {
    std::string name = with_rule(site.name, rule);
    while (!taken.insert(name).second) name += "x";
    names.push_back(name);
  }
  return names;
}

}  // namespace mrclab::lab
