#pragma once
// A program's log: spdlog to one file with a size bound.

#include <spdlog/logger.h>

#include <filesystem>
#include <memory>
#include <string>

namespace mrclab::netio {

struct LogOptions {
  size_t max_bytes = 8 << 20;  ///< at most twice this on disk: when full, the file moves to .1
  bool debug = false;
};

/// Opens (appends to) `path`. Every line is handed to the kernel at once, so that a killed
/// program's log is whole: do not log per packet. Throws SystemError when the file cannot be
/// opened; a later full disk drops lines. Shared by spdlog's own design; keep one per program and
/// pass it on.
std::shared_ptr<spdlog::logger> open_log(const std::filesystem::path& path,
                                         const std::string& program, LogOptions options = {});

}  // namespace mrclab::netio
