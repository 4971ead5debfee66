#include "live/translate/role_words.h"

#include <algorithm>
#include <array>

namespace mrclab::lab {
namespace {

constexpr LabRole kHost = LabRole::kHost, kSwitch = LabRole::kSwitch;
constexpr LabRole kManagement = LabRole::kManagement;

// Words of topologies that people publish, and the icons of containerlab's graph and its extension for editors.
constexpr std::array<RoleWord, 62> kWords{{
    {"host", kHost, {}},
    {"hosts", kHost, {}},
    {"server", kHost, {}},
    {"servers", kHost, {}},
    {"srv", kHost, {}},
    {"client", kHost, {}},
    {"clients", kHost, {}},
    {"gpu", kHost, {}},
    {"gpus", kHost, {}},
    {"compute", kHost, {}},
    {"worker", kHost, {}},
    {"workers", kHost, {}},
    {"dgx", kHost, {}},
    {"hgx", kHost, {}},
    {"pc", kHost, {}},
    {"vm", kHost, {}},
    {"endpoint", kHost, {}},
    {"workstation", kHost, {}},
    {"tgen", kHost, {}},
    {"ixia", kHost, {}},
    {"trex", kHost, {}},
    {"storage", kHost, {}},
    {"computer", kHost, {}},
    {"switch", kSwitch, {}},
    {"switches", kSwitch, {}},
    {"sw", kSwitch, {}},
    {"router", kSwitch, {}},
    {"routers", kSwitch, {}},
    {"rtr", kSwitch, {}},
    {"pe", kSwitch, {}},
    {"firewall", kSwitch, {}},
    {"dcgw", kSwitch, {}},
    {"gateway", kSwitch, {}},
    {"t0", kSwitch, 0},
    {"tor", kSwitch, 0},
    {"tors", kSwitch, 0},
    {"leaf", kSwitch, 0},
    {"leafs", kSwitch, 0},
    {"leaves", kSwitch, 0},
    {"access", kSwitch, 0},
    {"rail", kSwitch, 0},
    {"rails", kSwitch, 0},
    {"t1", kSwitch, 1},
    {"spine", kSwitch, 1},
    {"spines", kSwitch, 1},
    {"agg", kSwitch, 1},
    {"aggregation", kSwitch, 1},
    {"dist", kSwitch, 1},
    {"distribution", kSwitch, 1},
    {"t2", kSwitch, 2},
    {"superspine", kSwitch, 2},
    {"superspines", kSwitch, 2},
    {"core", kSwitch, 2},
    {"cores", kSwitch, 2},
    {"oob", kManagement, {}},
    {"mgmt", kManagement, {}},
    {"management", kManagement, {}},
    {"mgt", kManagement, {}},
    {"mgmtsw", kManagement, {}},
    {"oobsw", kManagement, {}},
    {"bastion", kManagement, {}},
    {"jumphost", kManagement, {}},
}};

// By a part of the image's name.
constexpr std::array<RoleWord, 36> kImages{{
    {"frr", kSwitch, {}},         {"bird", kSwitch, {}},     {"gobgp", kSwitch, {}},
    {"sonic", kSwitch, {}},       {"srlinux", kSwitch, {}},  {"ceos", kSwitch, {}},
    {"cvx", kSwitch, {}},         {"cumulus", kSwitch, {}},  {"vyos", kSwitch, {}},
    {"crpd", kSwitch, {}},        {"xrd", kSwitch, {}},      {"holo", kSwitch, {}},
    {"openbgpd", kSwitch, {}},    {"quagga", kSwitch, {}},   {"vpp", kSwitch, {}},
    {"openvswitch", kSwitch, {}}, {"bmv2", kSwitch, {}},     {"nxos", kSwitch, {}},
    {"n9kv", kSwitch, {}},        {"freertr", kSwitch, {}},  {"dent", kSwitch, {}},
    {"ocnos", kSwitch, {}},       {"rustybgp", kSwitch, {}}, {"exabgp", kHost, {}},
    {"multitool", kHost, {}},     {"netshoot", kHost, {}},   {"iperf", kHost, {}},
    {"trex", kHost, {}},          {"ixia", kHost, {}},       {"ostinato", kHost, {}},
    {"gpu", kHost, {}},           {"host", kHost, {}},       {"client", kHost, {}},
    {"scapy", kHost, {}},         {"server", kHost, {}},     {"nccl", kHost, {}},
}};

constexpr std::array<std::string_view, 9> kMachines{
    "linux",      "k8s-kind", "keysight_ixia-c-one", "spirent_stc", "ostinato",
    "generic_vm", "border0",  "cisco_trex",          "freebsd"};

char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
bool is_small_letter(char c) { return c >= 'a' && c <= 'z'; }

std::string small_letters(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), small);
  return result;
}

const RoleWord* exact_word(std::string_view word) {
  const auto* found = std::find_if(kWords.begin(), kWords.end(),
                                   [&](const RoleWord& each) { return each.word == word; });
  return found == kWords.end() ? nullptr : found;
}

/// A run of letters that is a word, or ends in a long one: "gpuserver", "rackleaf".
const RoleWord* word_of_run(std::string_view run) {
  constexpr size_t kLong = 4;
  if (const RoleWord* whole = exact_word(run)) return whole;
  for (const RoleWord& each : kWords) {
    if (each.word.size() >= kLong && run.ends_with(each.word)) return &each;
  }
  return nullptr;
}

}  // namespace

const RoleWord* role_word(std::string_view text) {
  std::string word = small_letters(text);
  std::erase_if(word, [](char c) { return c == '-' || c == '_' || c == ' '; });
  return exact_word(word);
}

const RoleWord* role_word_in(std::string_view name) {
  if (const RoleWord* whole = role_word(name)) return whole;  // "t0", "super-spine"
  const RoleWord* last = nullptr;
  bool super = false;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    // A run of letters ends where small ones are followed by a capital: "gpuHost".
    while (end < name.size() && is_small_letter(small(name[end])) &&
           (end == at || !is_small_letter(name[end - 1]) || is_small_letter(name[end]))) {
      ++end;
    }
    const std::string run = small_letters(name.substr(at, end - at));
    const RoleWord* word = word_of_run(run);
    if (word != nullptr && word->role == LabRole::kManagement) return word;
    if (word != nullptr) last = super && word->height ? exact_word("superspine") : word;
    if (!run.empty()) super = run == "super" || run == "ss";
    at = std::max(end, at + 1);
  }
  return last;
}

const RoleWord* role_of_image(std::string_view image) {
  const size_t slash = image.rfind('/');
  std::string name = small_letters(slash == std::string_view::npos ? image : image.substr(slash));
  name.erase(std::min(name.find(':'), name.size()));
  for (const RoleWord& each : kImages) {
    if (name.find(each.word) != std::string::npos) return &each;
  }
  // The project's name, for images such as "frrouting/router" and "sonic/vs".
  const std::string whole =
      small_letters(image.substr(0, slash == std::string_view::npos ? 0 : slash));
  const std::string project =
      whole.substr(whole.rfind('/') == std::string::npos ? 0 : whole.rfind('/'));
  for (const RoleWord& each : kImages) {
    if (each.role == kSwitch && project.find(each.word) != std::string::npos) return &each;
  }
  return nullptr;
}

bool is_machine_kind(std::string_view kind) {
  return kind.empty() || std::find(kMachines.begin(), kMachines.end(), kind) != kMachines.end();
}

}  // namespace mrclab::lab
