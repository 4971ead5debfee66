#pragma once
// The limit on the size of files (ulimit -f, RLIMIT_FSIZE).

#include <csignal>

namespace mrclab::netio {

/// From here on a write beyond the limit fails with EFBIG, which is reported with what was written. By default SIGXFSZ
/// ends the process without a word (setrlimit(2)). Other programs that this one starts get the default again.
inline void report_file_size_limit() { std::signal(SIGXFSZ, SIG_IGN); }

}  // namespace mrclab::netio
