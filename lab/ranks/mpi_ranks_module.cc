// mrclab-mpi.so: ranks that MPI connects. A module of its own, opened where mpirun has started the
// process (join_ranks.cc), so that nothing else needs MPI.

#include <mpi.h>

#include <climits>
#include <string>

#include "sim/rank_link.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMessageMax = size_t{1} << 30;  ///< bytes; MPI counts them by int
constexpr int kLettersTag = 1;

/// MPI's default is to end all ranks with a message when something fails, and that is kept: a rank
/// that is gone leaves the others nothing to wait for.
class MpiRanks : public RankLink {
 public:
  MpiRanks() {
    int level = 0;
    // The last thread to reach a barrier speaks for all threads of its rank, so they take turns.
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level);
    if (level < MPI_THREAD_SERIALIZED) {
      MPI_Finalize();
      throw std::runtime_error("this MPI allows one thread only to use it");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &count_);
    from_.resize(static_cast<size_t>(count_));
    // One item, so that no way to reduce takes a vote apart.
    MPI_Type_contiguous(kVoteNumbers, MPI_INT64_T, &vote_);
    MPI_Type_commit(&vote_);
    MPI_Op_create(&join_votes, 1, &join_);
  }
  ~MpiRanks() override {
    MPI_Op_free(&join_);
    MPI_Type_free(&vote_);
    MPI_Finalize();
  }
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  uint32_t rank() const override { return static_cast<uint32_t>(rank_); }
  uint32_t count() const override { return static_cast<uint32_t>(count_); }
  std::string machine() const override {
    char name[MPI_MAX_PROCESSOR_NAME] = {};
    int length = 0;
    MPI_Get_processor_name(name, &length);
    return std::string(name, static_cast<size_t>(length));
  }

  WindowVote agree(const WindowVote& own) override {
    int64_t mine[kVoteNumbers], all[kVoteNumbers] = {};
    write_vote(own, mine);
    MPI_Allreduce(mine, all, 1, vote_, join_, MPI_COMM_WORLD);
    return read_vote(all);
  }

  const std::vector<Bytes>& exchange(const std::vector<Bytes>& to) override {
    const auto count = static_cast<size_t>(count_);
    std::vector<uint64_t> sent(count), coming(count);
    for (size_t r = 0; r < count; ++r) sent[r] = r == rank() ? 0 : to[r].size();
    MPI_Alltoall(sent.data(), 1, MPI_UINT64_T, coming.data(), 1, MPI_UINT64_T, MPI_COMM_WORLD);
    std::vector<MPI_Request> requests;
    for (size_t r = 0; r < count; ++r) {
      from_[r].resize(checked_length(coming[r]));
      if (coming[r] == 0) continue;
      MPI_Irecv(from_[r].data(), static_cast<int>(coming[r]), MPI_BYTE, static_cast<int>(r),
                kLettersTag, MPI_COMM_WORLD, &requests.emplace_back());
    }
    for (size_t r = 0; r < count; ++r) {
      if (sent[r] == 0) continue;
      MPI_Isend(to[r].data(), static_cast<int>(checked_length(sent[r])), MPI_BYTE,
                static_cast<int>(r), kLettersTag, MPI_COMM_WORLD, &requests.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    return from_;
  }

  std::vector<std::string> gather(const std::string& own) override {
    const auto length = static_cast<int>(checked_length(own.size()));
    std::vector<int> lengths(static_cast<size_t>(count_)), starts;
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, MPI_COMM_WORLD);
    uint64_t total = 0;
    for (const int one : lengths) {
      starts.push_back(static_cast<int>(total));
      total = checked_length(total + static_cast<uint64_t>(one));
    }
    std::string joined(total, ' ');
    MPI_Allgatherv(own.data(), length, MPI_BYTE, joined.data(), lengths.data(), starts.data(),
                   MPI_BYTE, MPI_COMM_WORLD);
    std::vector<std::string> texts;
    for (size_t r = 0; r < lengths.size(); ++r) {
      texts.push_back(
          joined.substr(static_cast<size_t>(starts[r]), static_cast<size_t>(lengths[r])));
    }
    return texts;
  }

 private:
  static constexpr int kVoteNumbers = 5;

  static size_t checked_length(uint64_t length) {
    if (length > kMessageMax) throw std::runtime_error("a message between ranks is over 1 GiB");
    return length;
  }

  static void write_vote(const WindowVote& vote, int64_t* numbers) {
    numbers[0] = vote.earliest[0].ps();
    numbers[1] = vote.earliest[1].ps();
    numbers[2] = static_cast<int64_t>(vote.frames);
    numbers[3] = vote.stop ? 1 : 0;
    numbers[4] = vote.failed ? 1 : 0;
  }

  static WindowVote read_vote(const int64_t* numbers) {
    return {.earliest = {FabricTime::from_ps(numbers[0]), FabricTime::from_ps(numbers[1])},
            .frames = static_cast<uint64_t>(numbers[2]),
            .stop = numbers[3] != 0,
            .failed = numbers[4] != 0};
  }

  static void join_votes(void* in, void* in_out, int* length, MPI_Datatype* /*type*/) {
    const auto* const one = static_cast<const int64_t*>(in);
    auto* const all = static_cast<int64_t*>(in_out);
    for (int vote = 0, i = 0; vote < *length; ++vote, i += kVoteNumbers) {
      WindowVote together = read_vote(all + i);
      together.join(read_vote(one + i));
      write_vote(together, all + i);
    }
  }

  int rank_ = 0, count_ = 1;
  MPI_Datatype vote_ = MPI_DATATYPE_NULL;
  MPI_Op join_ = MPI_OP_NULL;
  std::vector<Bytes> from_;
};

}  // namespace
}  // namespace mrclab::lab

extern "C" mrclab::lab::RankLink* mrclab_open_mpi_ranks() { return new mrclab::lab::MpiRanks(); }
