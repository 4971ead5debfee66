#pragma once
// What the descriptors of a held program are to fabric time. Files, terminals and whatever is not in this table are
// real and cost nothing.

#include <cstddef>
#include <cstdint>

#include "verbs/held/program.h"

namespace mrclab::verbs::held {

enum class Kind : uint8_t {
  kNone,      ///< real
  kSocket,    ///< TCP over IPv4: bytes by the real socket, times by the management network
  kDatagram,  ///< UDP: cannot be held once it sends
  kEvents,    ///< of a channel, or asynchronous: the server writes, at fabric time
  kLocal,     ///< a pipe of the program with itself
  kRandom,    ///< of /dev/urandom: numbers of the program's seed
  kTimer,     ///< a timerfd
  kEpoll,
};

enum class Phase : uint8_t { kFresh, kBound, kListening, kConnecting, kRefused, kConnected };

inline constexpr uint32_t kMaxFiles =
    512;  ///< files that the table has, each with one or more descriptors
inline constexpr int kMaxDescriptor = 4096;  ///< descriptors beyond are not held
inline constexpr uint32_t kMaxBacklog =
    64;  ///< real connections of a listening socket, not yet accepted
inline constexpr uint32_t kMaxInterests = 128;  ///< of an epoll

/// A real connection that came before the one that is accepted next.
struct EarlyConnection {
  int fd;
  uint32_t address;
  uint16_t port;
};
struct Interest {
  int fd;  ///< -1: free
  uint32_t events;
  uint64_t data;
  bool told_of_room;  ///< EPOLLET
};

/// What several descriptors (dup) may stand for, as the kernel's open file description.
struct File {
  Kind kind;
  Phase phase;
  uint32_t descriptors;  ///< that refer to it; 0: free
  uint32_t number;       ///< of a socket, to the server
  uint32_t address, peer_address;
  uint16_t port, peer_port;
  bool no_room;                   ///< the last kSent found none
  uint64_t read_ps, write_ps;     ///< SO_RCVTIMEO, SO_SNDTIMEO; 0: none
  uint64_t expires_ps, every_ps;  ///< kTimer; kNever: not set
  bool of_epoch;                  ///< kTimer: absolute times are of CLOCK_REALTIME
  uint32_t early_count;           ///< kListening
  EarlyConnection* early;         ///< kMaxBacklog of them
  uint32_t interest_count;        ///< kEpoll; places in use are below
  Interest* interests;            ///< kMaxInterests of them
};

/// Null: a real one.
File* file_of(int fd);
/// A new file for `fd`; null where the table is full, which ends being held.
File* add_file(int fd, Kind kind);
/// A socket that has a number before it has a descriptor, and the descriptor for it.
File* add_spare_file();
void give_descriptor(File& file, int fd);
/// `fd` is about to be closed: the last one of a socket closes it at the server.
void drop_descriptor(int fd);
/// At the last close() of a socket: its connections end at this instant.
void close_socket(File& file);
/// No epoll waits for `fd` any longer.
void forget_interest(int fd);
/// `to` stands for what `from` does.
void copy_descriptor(int from, int to);
/// `fd` gets events of the server.
void watch_events(int fd);
/// O_NONBLOCK is set.
bool is_nonblocking(int fd);

}  // namespace mrclab::verbs::held
