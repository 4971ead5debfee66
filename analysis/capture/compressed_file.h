#pragma once
// Captures that were compressed with gzip, zstd, xz, bzip2 or lz4, read as if they were not. The format is
// recognized by the first bytes, not by the file's name. Decompressed as it is read: memory does not grow with it.

#include <cstdint>
#include <cstdio>
#include <span>

namespace mrclab::analysis {

/// Do these bytes start like a gzip (RFC 1952 §2.3), zstd (RFC 8878 §3.1.1), xz, bzip2 or LZ4 (frame format) file?
bool is_compressed(std::span<const uint8_t> bytes);

inline constexpr size_t kCompressionMagicBytes = 6;  ///< what is_compressed needs of a file

/// A stream of what `file` holds, which this takes over. Reading fails with EBADMSG where the
/// compressed data is damaged or cut. `magic` are the first bytes of the file, which stands at its
/// start. Null, and `file` is closed, if that cannot be set up.
std::FILE* open_decompressed(std::FILE* file, std::span<const uint8_t> magic);

}  // namespace mrclab::analysis
