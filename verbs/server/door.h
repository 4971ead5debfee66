#pragma once
// The doors of the hosts that one process runs: a listening socket for each, in the host's own /run, and the programs
// that came through. All of them are served by one call between two ticks, which never waits; where nobody is
// connected, that is one system call.
//
// Bounds: kMaxPrograms per host, and of those kMaxSilent that have not said hello yet: one more takes the place of the
// oldest. Only root and the user of this process are let in (and the socket's file has mode 0600).

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "netio/system/message_socket.h"
#include "verbs/server/host_programs.h"
#include "verbs/server/wall_program.h"

namespace mrclab::verbs {

/// Where a node's programs find its door: in what is its /run. `nodes` has a folder for each node.
std::filesystem::path door_of(const std::filesystem::path& nodes, std::string_view node);

class Doors {
 public:
  static constexpr size_t kMaxPrograms = 64;
  static constexpr size_t kMaxSilent = 8;

  Doors() = default;
  ~Doors();
  Doors(const Doors&) = delete;
  Doors& operator=(const Doors&) = delete;

  /// The programs of one host, with a door at `path`; `device` outlives this. Throws SystemError.
  void open(const std::filesystem::path& path, endpoint::Device& device, HostFacts facts);
  /// Hands over what has become complete, lets in who is at a door, answers requests and takes work. `rate`: fabric
  /// picoseconds per 1,000 ns of this machine. True: something was done, and more may follow at once.
  bool serve(uint64_t rate);
  bool anybody() const;
  /// Ends all connections and closes the doors; what programs had made goes.
  void close();

 private:
  struct Host {
    std::unique_ptr<HostPrograms> programs;
    netio::MessageListener listener;
    std::vector<std::unique_ptr<WallProgram>> guests;  ///< in the order in which they came
  };
  void let_in(Host& host);
  void end(Host& host, size_t guest);
  bool serve_guests(Host& host, uint64_t rate);

  netio::ReadySet ready_;
  std::vector<std::unique_ptr<Host>> hosts_;
};

}  // namespace mrclab::verbs
