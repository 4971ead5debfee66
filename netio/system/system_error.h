#pragma once
// One idiom for every system call: check_system_call("open /dev/net/tun", ::open(...)) throws an
// error with what was attempted. Mains catch once, print explain(), return exit_code().

#include <cerrno>
#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mrclab::netio {

/// What a person can do about an error of the kernel.
enum class ErrorKind { kMissingRights, kMissingFeature, kDiskFull, kOther };
ErrorKind kind_of(int error_number);

/// A system call or netlink request that failed: what was attempted, and errno.
class SystemError : public std::runtime_error {
 public:
  SystemError(std::string_view attempted, int error_number, std::string_view detail = {});
  const std::string& attempted() const { return attempted_; }
  int error_number() const { return error_number_; }
  ErrorKind kind() const { return kind_of(error_number_); }

 private:
  std::string attempted_;
  int error_number_;
};

/// The message and, where there is one, a sentence on what to do.
std::string explain(const SystemError& error);
/// 2 when the user lacks rights, 3 when this machine cannot do it or anything else
/// failed.
int exit_code(const SystemError& error);

/// Throws a SystemError with errno when `value` is negative; otherwise returns it.
template <std::signed_integral T>
T check_system_call(std::string_view attempted, T value) {
  if (value < 0) [[unlikely]]
    throw SystemError(attempted, errno);
  return value;
}

}  // namespace mrclab::netio
