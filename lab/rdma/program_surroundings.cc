#include "lab/rdma/program_surroundings.h"

#include <sys/personality.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include "fabric/text/yaml.h"
#include "live/bringup/management_network.h"
#include "netio/system/system_error.h"
#include "verbs/protocol/messages.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// An environment has a limit; /etc/hosts has all hosts.
constexpr uint32_t kMostAddresses = 1024;
constexpr const char* kVerbsLibrary = "libibverbs.so.1";
constexpr const char* kHeldLibrary = "libmrclab-held.so";

/// `first`, and behind it what the variable has now.
std::string in_front(const std::string& first, const char* variable) {
  const char* const had = std::getenv(variable);
  if (had == nullptr || *had == '\0') return first;
  const std::string rest(had);
  if (rest == first || rest.starts_with(first + ":")) return rest;
  return first + ":" + rest;
}

/// Programs that run the rest of their command line, and which of their options take a word of their own.
struct Wrapper {
  std::string_view name, with_word;
  unsigned words;  ///< that stand before the command
};
constexpr std::array kWrappers = {
    Wrapper{"env", "uCS", 0},    Wrapper{"timeout", "ks", 1}, Wrapper{"nice", "n", 0},
    Wrapper{"nohup", "", 0},     Wrapper{"setsid", "", 0},    Wrapper{"stdbuf", "ioe", 0},
    Wrapper{"setarch", "", 0},   Wrapper{"taskset", "", 1},   Wrapper{"chrt", "", 1},
    Wrapper{"ionice", "cnp", 0}, Wrapper{"time", "fo", 0},    Wrapper{"exec", "a", 0},
    Wrapper{"command", "", 0},
};
constexpr std::array<std::string_view, 5> kShells = {"sh", "bash", "dash", "zsh", "ksh"};

std::string base_name(const std::string& word) { return fs::path(word).filename().string(); }

bool is_assignment(const std::string& word) {
  const size_t equals = word.find('=');
  return equals != std::string::npos && equals != 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
           return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                  (c >= 'A' && c <= 'Z');
         });
}

/// As the kernel will name it: links are followed, python3 is python3.11.
std::string real_name(const std::string& word) {
  std::error_code none;
  if (word.find('/') != std::string::npos) {
    const fs::path file = fs::canonical(word, none);
    return none ? base_name(word) : file.filename().string();
  }
  const char* const path = std::getenv("PATH");
  std::string folders = path == nullptr ? "/usr/bin:/bin" : path;
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const fs::path file = fs::path(folders.substr(begin, end - begin)) / word;
    begin = end + 1;
    if (::access(file.c_str(), X_OK) != 0) continue;
    const fs::path real = fs::canonical(file, none);
    if (!none) return real.filename().string();
  }
  return word;
}

/// Words of a line as a shell splits it, as long as it has quotes and blanks alone; nothing of a line that is more than one
/// simple command.
std::vector<std::string> simple_words(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool has_word = false;
  char quote = '\0';
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote == '\0' && std::string_view(";|&()<>`\n").find(c) != std::string_view::npos) {
      // Where the output goes does not change which program it is.
      const bool descriptor = c == '>' || c == '<' || (c == '&' && i > 0 && line[i - 1] == '>');
      if (!descriptor) return {};
      if (has_word && word.find_first_not_of("0123456789") == std::string::npos) word.clear();
      if (!word.empty()) words.push_back(word);
      return words;
    }
    if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
      has_word = true;
    } else if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == ' ' || c == '\t')) {
      if (has_word) words.push_back(word);
      word.clear();
      has_word = false;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote != '\0') return {};
  if (has_word) words.push_back(word);
  return words;
}

/// Behind the wrapper's own options and words.
std::vector<std::string> behind(const Wrapper& wrapper, const std::vector<std::string>& command) {
  size_t at = 1;
  while (at < command.size() && command[at].starts_with("-") && command[at] != "-") {
    const std::string& option = command[at++];
    if (option == "--") break;
    const bool alone = option.size() == 2 && wrapper.with_word.find(option[1]) != std::string::npos;
    if (alone) ++at;
  }
  at += wrapper.words;
  if (wrapper.name == "setarch" && at < command.size() &&
      command[at].find('/') == std::string::npos &&
      (command[at] == "x86_64" || command[at] == "linux64" || command[at] == "aarch64")) {
    ++at;
    while (at < command.size() && command[at].starts_with("-")) ++at;
  }
  if (at >= command.size()) return {};
  return {command.begin() + static_cast<std::ptrdiff_t>(at), command.end()};
}

std::vector<std::string> without_assignments(std::vector<std::string> command) {
  const auto first = std::find_if_not(command.begin(), command.end(), is_assignment);
  command.erase(command.begin(), first);
  return command;
}

std::string program_within(std::vector<std::string> command, int depth) {
  constexpr int kDeepest = 16;
  command = without_assignments(std::move(command));
  if (command.empty() || depth > kDeepest) return "";
  const std::string name = base_name(command.front());
  const auto wrapper = std::find_if(kWrappers.begin(), kWrappers.end(),
                                    [&](const Wrapper& each) { return each.name == name; });
  if (wrapper != kWrappers.end()) return program_within(behind(*wrapper, command), depth + 1);
  if (std::find(kShells.begin(), kShells.end(), name) == kShells.end()) {
    return real_name(command.front());
  }
  for (size_t i = 1; i + 1 < command.size() && command[i].starts_with("-"); ++i) {
    if (command[i].find('c') != std::string::npos && command[i][1] != '-') {
      return program_within(simple_words(command[i + 1]), depth + 1);
    }
  }
  return "";  // a script, or an interactive shell
}

}  // namespace

std::optional<fs::path> rdma_libraries() {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path() / "rdma";
  if (none || !fs::exists(folder / kVerbsLibrary, none)) return std::nullopt;
  return folder;
}

Environment rdma_environment(const Topology& topology, const RdmaProgram& program,
                             const fs::path& libraries) {
  Environment list;
  list.emplace_back("LD_LIBRARY_PATH", in_front(libraries.string(), "LD_LIBRARY_PATH"));
  list.emplace_back(verbs::kSocketVariable,
                    program.socket.empty() ? verbs::kSocketPath : program.socket.string());
  list.emplace_back("MRCLAB_MGMT", management_address_text(program.host));
  for (uint32_t host = 0; host < std::min(topology.host_count(), kMostAddresses); ++host) {
    list.emplace_back("MRCLAB_MGMT_" + topology.node(topology.host(host)).name,
                      management_address_text(host));
  }
  if (program.send_emulated) list.emplace_back("MRCLAB_VERBS_SEND", "emulated");
  if (program.held) {
    const fs::path library = libraries / kHeldLibrary;
    std::error_code none;
    if (!fs::exists(library, none)) throw InputError(kNoHeldLibrary);
    list.emplace_back("LD_PRELOAD", in_front(library.string(), "LD_PRELOAD"));
    list.emplace_back("MRCLAB_PROGRAM", program.program);
  }
  return list;
}

std::string program_of_line(const std::string& line) {
  return program_within(simple_words(line), 0);
}

void fix_addresses() {
  const int now = ::personality(0xFFFF'FFFF);
  netio::check_system_call("ask for the personality", now);
  netio::check_system_call("have addresses at the same places",
                           ::personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE));
}

}  // namespace mrclab::lab
