#include "fabric/text/line_file.h"

#include <cerrno>
#include <system_error>

#include "fabric/text/input_file.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"

namespace mrclab {

LineFile::LineFile(const std::filesystem::path& path) : name_(visible(path.string())) {
  require_input_file(path);
  errno = 0;
  in_.open(path);
  if (!in_) {
    throw InputError("open " + name_ + ": " + std::generic_category().message(errno));
  }
}

bool LineFile::next(std::string& line) {
  line.clear();
  std::streambuf& bytes = *in_.rdbuf();
  for (int c = bytes.sbumpc();; c = bytes.sbumpc()) {
    if (c == std::char_traits<char>::eof()) {
      number_ += line.empty() ? 0 : 1;
      return !line.empty();
    }
    if (c == '\n') {
      ++number_;
      return true;
    }
    if (line.size() == kMaxLineBytes) {
      throw InputError(name_ + ":" + std::to_string(number_ + 1) + ": found a line of more than " +
                       std::to_string(kMaxLineBytes) + " bytes: expected the lines of a run");
    }
    line += static_cast<char>(c);
  }
}

}  // namespace mrclab
