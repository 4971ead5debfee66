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

/// Opens (appends to) `path`. Warnings and worse are on disk at once, the rest within seconds or
/// at exit. Throws SystemError when the file cannot be opened; a later full disk drops lines.
/// Shared by spdlog's own design; keep one per program and pass it on.
std::shared_ptr<spdlog::logger> open_log(const std::filesystem::path& path,
                                         const std::string& program, LogOptions options = {});

}  // namespace mrclab::netio
