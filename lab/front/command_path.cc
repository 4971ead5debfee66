#include "lab/front/command_path.h"

#include <errno.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

namespace mrclab::lab {

std::filesystem::path command_path() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "mrclab-cli";
}

void become_verb(std::vector<std::string> words) {
  const std::string command = command_path().string();
  words.insert(words.begin(), "mrclab");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(command.c_str(), argv.data());
  throw std::system_error(errno, std::generic_category(), "cannot start " + command);
}

}  // namespace mrclab::lab
