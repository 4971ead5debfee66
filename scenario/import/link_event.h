#pragma once
// What one line of a log reports about one port.

#include <string>
#include <string_view>

#include "scenario/import/link_sentence.h"
#include "scenario/import/log_time.h"

namespace mrclab::lab {

struct LinkEvent {
  LogTime time;
  LinkEventKind kind = LinkEventKind::kDown;
  std::string port;  ///< as the log has it: "leaf-07 Ethernet1/3", "eth0" if it names no device
  /// For errors, as written: "2%" of frames, "1e-6" of bits, "0" for their end; empty if the log
  /// has none.
  std::string rate;
  size_t line = 0;  ///< from 1
};

/// The device and its port as one name; either may be empty.
inline std::string port_name(std::string_view device, std::string_view port) {
  return std::string(device) + (device.empty() || port.empty() ? "" : " ") + std::string(port);
}

}  // namespace mrclab::lab
