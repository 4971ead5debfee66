#pragma once
// Opens packet captures: pcapng with a small block reader of our own, everything else (classic pcap
// with µs or ns, other formats) through libpcap, either of them also compressed
// (compressed_file.h). Why our own: libpcap hides what the evidence needs, the interface of a
// packet, its direction and its comment (draft-ietf-opsawg-pcapng §4.2-4.3).

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "analysis/capture/capture_reader.h"

namespace mrclab::analysis {

/// A file of any supported format. Throws CaptureError.
std::unique_ptr<CaptureReader> open_capture(const std::filesystem::path& path,
                                            CaptureOptions options = {});
/// Reads a stream that is open and cannot be rewound, and closes it. Errors, and the interface of a classic pcap, have
/// `name`.
std::unique_ptr<CaptureReader> capture_of_file(std::FILE* file, const std::string& name,
                                               bool pcapng, CaptureOptions options);
/// The same on bytes in memory, which must outlive the reader.
std::unique_ptr<CaptureReader> capture_in_memory(std::span<const uint8_t> bytes,
                                                 CaptureOptions options = {});

}  // namespace mrclab::analysis
