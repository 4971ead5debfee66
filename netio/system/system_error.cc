#include "netio/system/system_error.h"

#include <cstring>

namespace mrclab::netio {
namespace {

std::string error_text(std::string_view attempted, int error_number, std::string_view detail) {
  std::string text = "cannot " + std::string(attempted) + ": " + ::strerror(error_number);
  if (!detail.empty()) text += " (" + std::string(detail) + ")";
  return text;
}

}  // namespace

ErrorKind kind_of(int error_number) {
  switch (error_number) {
    case EPERM:
    case EACCES: return ErrorKind::kMissingRights;
    case ENOSYS:
    case EOPNOTSUPP:
    case EAFNOSUPPORT:
    case EPROTONOSUPPORT:
    case ENOPROTOOPT: return ErrorKind::kMissingFeature;
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return ErrorKind::kDiskFull;
    default: return ErrorKind::kOther;
  }
}

SystemError::SystemError(std::string_view attempted, int error_number, std::string_view detail)
    : std::runtime_error(error_text(attempted, error_number, detail)),
      attempted_(attempted),
      error_number_(error_number) {}

std::string explain(const SystemError& error) {
  const std::string what = error.what();
  switch (error.kind()) {
    case ErrorKind::kMissingRights:
      return what + ". Run it as root (sudo), in an environment that may create namespaces.";
    case ErrorKind::kMissingFeature:
      return what + ". This kernel lacks what is needed; `mrclab doctor` lists what is missing.";
    case ErrorKind::kDiskFull:
      // Labs have their records and sockets in /run, which is mostly memory of a fixed size.
      if (what.find(" /run/") != std::string::npos) {
        return what +
               ". Free some space in /run; 'mrclab down --all' removes what labs left there.";
      }
      return what + ". Free some disk space, or choose another folder with --out.";
    case ErrorKind::kOther: return what;
  }
  return what;
}

int exit_code(const SystemError& error) {
  return error.kind() == ErrorKind::kMissingRights ? 2 : 3;
}

}  // namespace mrclab::netio
