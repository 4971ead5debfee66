#pragma once
// A job out of what profilers measured of its ranks: when each exchanged what, and when it computed.
//
// The time of a rank is cut where an exchange begins or ends. Between cuts it computes: as long as its kernels ran where an
// exchange was under way, the whole time where none was, since nothing but the rank itself (its host, its data) can
// have held it up there. An exchange waits for what came before its beginning and for those of its group before it; what
// comes after its end waits for it, what overlaps does not. Run on a network as fast as the measured one, that gives the
// measured times; on another one, its own. Where all ranks have marked as many steps, what begins behind a mark and before
// the next one is a step; what comes before the first belongs to it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/import/trace.h"

namespace mrclab::job {

inline constexpr uint32_t kMaxExchangesOfRank = 200'000;
inline constexpr uint64_t kMaxMeasuredElements = uint64_t{1} << 48;  ///< of a vector
inline constexpr int64_t kMaxMeasuredNs =
    int64_t{1} << 51;  ///< from begin to end: 26 days, as picoseconds below 2^61
inline constexpr size_t kMaxMeasuredSteps = 10'000;  ///< those of a job (kMaxSteps of job_spec.h)

struct MeasuredExchange {
  enum class What : uint8_t { kCollective, kSend, kReceive } what = What::kCollective;
  Collective collective = Collective::kAllReduce;
  std::string group;  ///< its name: exchanges of one follow each other
  std::vector<uint32_t>
      ranks;           ///< of a collective: the group's, in its order; of others: the peer alone
  uint32_t root = 0;   ///< of a broadcast, its place in `ranks`
  uint64_t bytes = 0;  ///< as OpGraph counts them
  int64_t begin_ns = 0, end_ns = 0;
  uint32_t line = 0;  ///< of its file, for messages; 0: of none
};

struct MeasuredKernel {
  int64_t begin_ns = 0, end_ns = 0;
};

/// What is known of one rank. Where times are only an order (no clock), computing takes none.
struct MeasuredRank {
  std::vector<MeasuredExchange> exchanges;  ///< in the order in which the rank began them
  std::vector<MeasuredKernel> kernels;      ///< in any order
  std::vector<int64_t> steps;  ///< when its steps began, ascending; empty: nothing marks them
  bool has_clock = true;
  uint64_t left_out = 0;  ///< exchanges of kinds that no graph has (reduce, gather, scatter)
};

/// What a name of PyTorch or NCCL stands for: "allreduce", "_allgather_base", "ncclDevKernel_AllReduce_Sum_f32_RING",
/// "AllReduce", "all_to_allv".
enum class MeasuredKind : uint8_t { kCollective, kSend, kReceive, kWait, kOther };
struct MeasuredName {
  MeasuredKind kind = MeasuredKind::kOther;
  Collective collective = Collective::kAllReduce;
};
MeasuredName measured_name(std::string_view name);
/// Bytes of an element of a type of PyTorch or NCCL ("Float", "BFloat16", "c10::Half"); 0 for an unknown one.
uint64_t element_bytes(std::string_view type);

/// The graph of all ranks. A single rank stands for all of `options.ranks`, or as many as its groups name: each of the others
/// does the same in the group that lies as its own does; messages between two ranks are then left out. All this is
/// noted. Throws InputError, which begins with `name`.
Trace measured_job(TraceFormat format, const std::vector<MeasuredRank>& ranks,
                   const std::string& name, const TraceOptions& options);

}  // namespace mrclab::job
