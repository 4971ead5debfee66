#include "lab/drill/prom_tool.h"

#include "fabric/text/input_error.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {

void require_prom_tool() {
  if (!netio::find_program("promtool")) throw NoPromTool();
}

PromToolAnswer run_prom_tool(const std::vector<std::string>& words,
                             const std::filesystem::path& scratch,
                             const IsInterrupted& interrupted) {
  const auto program = netio::find_program("promtool");
  if (!program) throw NoPromTool();
  const std::filesystem::path output = scratch / "promtool.txt";
  std::error_code none;
  std::filesystem::remove(output, none);
  netio::ChildOptions options;
  options.argv = {program->string()};
  options.argv.insert(options.argv.end(), words.begin(), words.end());
  options.stdout_file = output;
  netio::ChildProcess child = netio::ChildProcess::spawn(options);
  constexpr std::chrono::milliseconds kLook{50};
  constexpr std::chrono::minutes kPatience{10};
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::optional<netio::ExitStatus> end;
  while (!(end = child.wait(kLook))) {
    if (interrupted && interrupted())
      throw Interrupted("interrupted while promtool evaluated the rules");
    if (std::chrono::steady_clock::now() > until) {
      throw InputError(
          "promtool: found no answer within ten minutes, expected fewer rules or longer "
          "steps (--every)");
    }
  }
  if (end->signal_number != 0) throw InputError("promtool: ended by " + to_string(*end));
  if (std::filesystem::file_size(output, none) > kMaxPromToolText && !none) {
    throw InputError("promtool: found an answer of over 64 MiB, expected fewer alerts");
  }
  return {end->code, netio::read_file(output)};
}

}  // namespace mrclab::lab
