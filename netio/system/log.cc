#include "netio/system/log.h"

#include <fcntl.h>
#include <spdlog/sinks/base_sink.h>
#include <sys/stat.h>

#include <mutex>

#include "netio/system/output_folder.h"

namespace mrclab::netio {
namespace {

/// A file that moves to a second name when it is full. spdlog's own opens it again by its path,
/// wherever that leads by then; here the folder is held open, and both names are looked up in it.
class BoundedFile : public spdlog::sinks::base_sink<std::mutex> {
 public:
  BoundedFile(const std::filesystem::path& path, size_t max_bytes)
      : folder_(OutputFolder::open(path.has_parent_path() ? path.parent_path() : ".")),
        name_(path.filename().string()),
        before_(path.stem().string() + ".1" + path.extension().string()),
        max_bytes_(max_bytes),
        file_(folder_.append_file(name_)) {
    struct stat info {};
    check_system_call("look at " + path.string(), ::fstat(file_.get(), &info));
    bytes_ = static_cast<size_t>(info.st_size);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    if (bytes_ + line.size() > max_bytes_ && bytes_ > 0) turn_over();
    file_.write_all(name_, {reinterpret_cast<const uint8_t*>(line.data()), line.size()});
    bytes_ += line.size();
  }
  void flush_() override {}  // every line is the kernel's at once

 private:
  void turn_over() {
    folder_.move_file(name_, before_);
    file_ = folder_.append_file(name_);
    bytes_ = 0;
  }

  OutputFolder folder_;
  std::string name_, before_;  ///< "a.log", "a.1.log"
  size_t max_bytes_;
  FileDescriptor file_;
  size_t bytes_ = 0;
};

}  // namespace

std::shared_ptr<spdlog::logger> open_log(const std::filesystem::path& path,
                                         const std::string& program, LogOptions options) {
  auto logger = std::make_shared<spdlog::logger>(
      program, std::make_shared<BoundedFile>(path, options.max_bytes));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%f %n[%P] %l: %v");
  logger->set_level(options.debug ? spdlog::level::debug : spdlog::level::info);
  // A log that cannot be written must not end the program, nor fill the terminal.
  logger->set_error_handler([](const std::string&) {});
  return logger;
}

}  // namespace mrclab::netio
