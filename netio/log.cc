#include "netio/log.h"

#include <spdlog/sinks/rotating_file_sink.h>

#include "netio/output_folder.h"

namespace mrclab::netio {

std::shared_ptr<spdlog::logger> open_log(const std::filesystem::path& path,
                                         const std::string& program, LogOptions options) {
  // spdlog's own error hides errno and the reason; find out first.
  append_file(path);
  auto sink =
      std::make_shared<spdlog::sinks::rotating_file_sink_mt>(path.string(), options.max_bytes, 1);
  auto logger = std::make_shared<spdlog::logger>(program, std::move(sink));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%f %n[%P] %l: %v");
  logger->set_level(options.debug ? spdlog::level::debug : spdlog::level::info);
  logger->flush_on(spdlog::level::debug);
  // A log that cannot be written must not end the program, nor fill the terminal.
  logger->set_error_handler([](const std::string&) {});
  return logger;
}

}  // namespace mrclab::netio
