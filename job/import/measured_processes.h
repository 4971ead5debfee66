#pragma once
// Exchanges that processes noted of communicators, for files that name no ranks of a job: a process is a rank, and its number
// is the one that it has in the largest communicator.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "job/import/measured_job.h"

namespace mrclab::job {

class MeasuredProcesses {
 public:
  /// One exchange of one process. Of a message `exchange.ranks` has the peer's rank in the communicator; of a collective
  /// it is filled in.
  struct Record {
    uint32_t process = 0, communicator = 0, line = 0;
    uint64_t number = 0;  ///< of the communicator's collectives in this process; it rises
    bool has_clock = false;
    MeasuredExchange exchange;
  };
  /// `name` stands in messages, and outlives it. All functions throw InputError, which begins with `name`.
  explicit MeasuredProcesses(const std::string& name) : name_(name) {}

  uint32_t process(const std::string& host, uint64_t number, uint32_t line);
  /// `called` is for tables; empty: the id.
  uint32_t communicator(const std::string& id, const std::string& called, uint64_t ranks,
                        uint32_t line);
  uint64_t ranks_of(uint32_t communicator) const { return communicators_[communicator].ranks; }
  const std::string& name_of(uint32_t communicator) const {
    return communicators_[communicator].name;
  }
  /// The process is that rank of the communicator.
  void join(uint32_t communicator, uint64_t rank, uint32_t process, uint32_t line);
  /// The communicator's ranks in the order of its ring; without it by their numbers.
  void set_ring(uint32_t communicator, std::vector<uint32_t> ranks);
  void add(Record record);
  /// An exchange of a kind that no graph has.
  void leave_out(uint32_t process) { ++left_out_[process]; }

  /// All ranks, in order. Once. A communicator of which some ranks are missing is refused.
  std::vector<MeasuredRank> made();

 private:
  struct Communicator {
    std::string name;
    uint64_t ranks = 0;
    std::map<uint64_t, uint32_t> process_of;  ///< by rank in it
    std::vector<uint32_t> ring;
  };
  void number();
  [[noreturn]] void fail(uint32_t line, const std::string& what) const;

  const std::string& name_;
  std::vector<Record> records_;
  std::map<std::pair<std::string, uint64_t>, uint32_t> processes_;
  std::map<std::string, uint32_t> by_id_;
  std::vector<Communicator> communicators_;
  std::vector<uint32_t> rank_of_;  ///< by process
  std::map<uint32_t, uint64_t> left_out_;
};

}  // namespace mrclab::job
