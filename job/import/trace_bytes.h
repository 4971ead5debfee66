#pragma once
// Files that jobs lie in, as bytes: bounded, and unpacked where they are packed.

#include <filesystem>
#include <string>

namespace mrclab::job {

inline constexpr size_t kMaxTraceBytes = size_t{256} << 20;  ///< of a file as it lies there
inline constexpr size_t kMaxGzipBytes = size_t{64} << 20;    ///< of one that is compressed
inline constexpr size_t kMaxUnpackedBytes = size_t{1} << 30;

/// Reads a whole file; one that begins as gzip does comes back unpacked. Throws InputError.
std::string read_trace_bytes(const std::filesystem::path& path);
/// What gzip packed, or the text itself. Throws InputError with `name` for what is damaged or too long.
std::string unpack_gzip(std::string packed, const std::string& name);

}  // namespace mrclab::job
