#pragma once
// The gate: each process publishes how far it is done and how many frames it has put on each of its
// wires; a process commits only instants that no process upstream can still change.
//
// Correctness rests on the memory order. A sender hands its frames to the kernel, then stores the
// wires' sent counts, then stores `done` (release). A receiver loads `done` (acquire), then the
// sent counts, then drains its rings: once it has received that many frames, it has every frame
// that started at or before `done`, so its wire cannot bring anything earlier than done +
// lookahead.
//
// The lab stops all processes at once as in Dekker's algorithm. A process first claims the instant
// that it is about to commit, and then looks at the limit again. If the limit was lowered
// meanwhile, or the schedule was replaced, it takes the claim back. The lab first lowers the limit
// and then looks at the claims. Both orders are sequentially consistent, so either the process sees
// the new limit or the lab sees the claim, however long either of them is held up in between.
//
// While the limit is kBeforeTime, processes sleep in wait_for_limit(): a lab of many processes comes
// up with one after the other, and those that tick already take the processors from those that start.
// set_limit() stores the limit and then counts the opening; a waiter reads the count and then the limit.
// So a waiter that has seen the old limit sleeps on an old count, which the kernel refuses or wakes.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "netio/runtime/clock_page.h"

namespace mrclab::netio {

inline constexpr uint32_t kMaxProcesses = 128;
inline constexpr uint32_t kMaxWires = 16'384;
inline constexpr uint32_t kNoProcess = 0xFFFF'FFFF;
/// The limit at which no process commits anything, not even events at 0.
inline constexpr FabricTime kBeforeTime = FabricTime::from_ps(-1);

enum class ProcessState : uint32_t {
  kAbsent,
  kReady,     ///< all nodes and QPs are set up; waits for time to start
  kFinished,  ///< committed up to the end, everything written
  kFailed,    ///< ended by its own error
  kReleased,  ///< the lab took it out of the gate: dead, or stopped from outside for too long
};

constexpr bool in_gate(ProcessState state) {
  return state != ProcessState::kReleased && state != ProcessState::kFailed;
}

/// Live figures of an endpoint process for the progress display: plain sums over its hosts.
enum class ProgressCounter : uint32_t {
  kEvsLost,
  kEvsRegained,
  kRetransmitted,
  kTrimmed,
  kQpsInError,
  kCollectives,
  kBytesVerified,
  kBytesWrong,
  kPlaneBytes,  ///< first of kMaxPlanes: payload delivered, by the plane it came over
};
inline constexpr uint32_t kMaxPlanes = 16;
inline constexpr uint32_t kProgressCounters =
    static_cast<uint32_t>(ProgressCounter::kPlaneBytes) + kMaxPlanes;

/// What one process publishes to the others. Members that are written every tick have a cache line
/// each.
struct alignas(64) ProcessSlot {
  std::atomic<int64_t> done_ps{0};  ///< all frames that start up to here are in the kernel
  /// The instant that it may be about to commit; see the head of the file.
  std::atomic<int64_t> claimed_ps{0};
  std::atomic<int64_t> heartbeat_ns{0};  ///< lab time of the last tick
  std::atomic<int64_t> min_slack_ns{INT64_MAX};
  std::atomic<int64_t> window_slack_ns{INT64_MAX};  ///< least slack since the lab last reset it
  std::atomic<uint64_t> late_frames{0};
  std::atomic<uint64_t> gaps{0};
  std::atomic<uint32_t> state{0};
  /// The process that holds this one back; kNoProcess: none.
  std::atomic<uint32_t> waits_for{kNoProcess};
  // Sums over all wires of frames between processes; a frame that was declared lost counts as
  // taken. `frames_sent` is stored before the kernel gets the frames, the others follow in this
  // order; readers load them in the opposite order: see quiet_until().
  std::atomic<uint64_t> frames_sent{0};
  std::atomic<int64_t> next_event_ps{0};    ///< earliest event in hand after the last tick
  std::atomic<int64_t> watched_next_ps{0};  ///< the same, of the node that a single step waits for
  std::atomic<uint64_t> frames_taken{0};
  std::atomic<uint64_t> watched_records{0};  ///< matches of a RecordWatch; before done_ps
  std::atomic<uint64_t> schedule{0};  ///< GatePage::schedule as last read; after next_event_ps
  /// What happened up to here is in the files (DaemonConfig::followed).
  std::atomic<int64_t> recorded_ps{0};
  /// From here on packet records found no room in them, so that recorded_ps stays before it; never(): all did. Stored before
  /// recorded_ps.
  std::atomic<int64_t> records_cut_ps{INT64_MAX};
  alignas(64) std::array<std::atomic<uint64_t>, kProgressCounters> progress;
};

/// The shared page: clock, limit, processes, wires. Placed in zeroed shared memory.
struct GatePage {
  static constexpr uint64_t kMagic = 0x4d52'434c'4142'0001;
  uint64_t magic = kMagic;
  uint32_t lab = 0;
  uint32_t process_count = 0;
  ClockPage clock;
  /// No process commits past this instant (pause, run-to, a kernel mirror that must act first).
  std::atomic<int64_t> limit_ps{0};
  /// Nothing starts anywhere before this instant: the result of quiet_until() when the clock
  /// jumped. Saves a round through the gate for every lookahead in the stretch that is jumped over.
  std::atomic<int64_t> quiet_ps{0};
  /// The version of the schedule of effects. Stored after the file, and before any limit that lets
  /// a process past the first difference; read after the limit.
  std::atomic<uint64_t> schedule{0};
  /// Lab time between the processes' ticks at the present pace; 0: by their configuration.
  std::atomic<int64_t> tick_ns{0};
  /// How far the clock may be ahead of the slowest process; 0: as far as its pace takes it. Each process applies the
  /// leash to its own reading of the clock (time_at), because the lab, which could stop the clock instead, may not be
  /// given a processor in time.
  std::atomic<int64_t> leash_ps{0};
  /// The links of the lab are there: the futex of wait_for_links().
  std::atomic<uint32_t> links_made{0};
  /// Counts how often the limit has left kBeforeTime: the futex of wait_for_limit().
  std::atomic<uint32_t> openings{0};
  std::array<ProcessSlot, kMaxProcesses> processes;
  std::array<std::atomic<uint64_t>, kMaxWires> sent;
  /// Not 0: somebody looks at an end of this wire, or changes what passes there, so that each frame crosses it alone
  /// and not in a bundle (fabric/packet/bundle.h). Written by the lab; a frame takes the value of when it is sent.
  std::array<std::atomic<uint8_t>, kMaxWires> alone;

  ProcessSlot& slot(uint32_t process) { return processes[process]; }
  ProcessState state(uint32_t process) const {
    return static_cast<ProcessState>(processes[process].state.load(std::memory_order_acquire));
  }
  void set_state(uint32_t process, ProcessState state) {
    processes[process].state.store(static_cast<uint32_t>(state), std::memory_order_release);
  }
  /// Wakes all that wait in wait_for_links().
  void tell_of_links();
  /// Sleeps until the links are there, `longest_ns` at most; a signal ends it early. True if they are.
  bool wait_for_links(int64_t longest_ns);
  /// Sets the limit, and wakes all that wait in wait_for_limit().
  void set_limit(FabricTime limit);
  /// Sleeps until the limit is another than kBeforeTime, `longest_ns` at most; a signal ends it early.
  /// True if the limit is another.
  bool wait_for_limit(int64_t longest_ns);
  /// Sets the limit so that no process commits anything until another limit is stored. Returns the
  /// latest instant that a process may have committed, or may still commit by a claim made before.
  /// The next limit must not lie below that instant.
  FabricTime stop_everywhere();
  /// Sum over all processes.
  uint64_t progress(ProgressCounter counter, uint32_t offset = 0) const;
  /// What the clock shows: its pace, held back by the leash.
  FabricTime time_at(LabTime now) const;
  /// How far the slowest process of the gate is done; never() when all are out of it.
  FabricTime slowest_done() const;
  /// The same of ProcessSlot::recorded_ps.
  FabricTime slowest_recorded() const;
  /// The earliest ProcessSlot::records_cut_ps, also of processes that are out of the gate.
  FabricTime records_cut() const;
  FabricTime slowest(std::atomic<int64_t> ProcessSlot::*instant) const;
  /// The earliest event in any process, if no frame is under way between two of them: until then
  /// nothing happens in the whole lab unless a frame or change comes from outside. Empty while
  /// frames are under way or a process has not read the newest schedule, and for good once a
  /// process has left the gate, because frames sent to it stay unread.
  std::optional<FabricTime> quiet_until() const;
  struct Quiet {
    FabricTime next;     ///< quiet_until()
    FabricTime watched;  ///< earliest event of the watched node (Driver::watch)
  };
  std::optional<Quiet> quiet() const;
  /// Number of records that the watches of all processes have matched (fabric/history/record_watch.h).
  uint64_t watched_records() const;
};

}  // namespace mrclab::netio
