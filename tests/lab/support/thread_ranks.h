#pragma once
// Ranks that are threads of the test, in place of the processes that mpirun starts.

#include <barrier>
#include <memory>
#include <string>
#include <vector>

#include "sim/rank_link.h"

namespace mrclab::test {

class ThreadRanks {
 public:
  explicit ThreadRanks(uint32_t count)
      : barrier_(count), votes_(count), texts_(count), parcels_(count), arrived_(count) {
    for (uint32_t rank = 0; rank < count; ++rank) {
      links_.push_back(std::make_unique<Link>(*this, rank));
    }
  }
  lab::RankLink& link(uint32_t rank) { return *links_[rank]; }

 private:
  using Bytes = lab::RankLink::Bytes;

  class Link : public lab::RankLink {
   public:
    Link(ThreadRanks& all, uint32_t rank) : all_(all), rank_(rank) {}
    uint32_t rank() const override { return rank_; }
    uint32_t count() const override { return static_cast<uint32_t>(all_.votes_.size()); }
    std::string machine() const override { return "test"; }
    lab::WindowVote agree(const lab::WindowVote& own) override {
      lab::WindowVote all;
      put_and_look(all_.votes_, own, [&] {
        for (const lab::WindowVote& vote : all_.votes_) all.join(vote);
      });
      return all;
    }
    const std::vector<Bytes>& exchange(const std::vector<Bytes>& to) override {
      std::vector<Bytes>& arrived = all_.arrived_[rank_];
      put_and_look(all_.parcels_, to, [&] {
        arrived.clear();
        for (const auto& parcels : all_.parcels_) arrived.push_back(parcels[rank_]);
      });
      return arrived;
    }
    std::vector<std::string> gather(const std::string& own) override {
      std::vector<std::string> all;
      put_and_look(all_.texts_, own, [&] { all = all_.texts_; });
      return all;
    }

   private:
    /// All have put their part there before one looks, and have looked before one puts the next.
    template <class T, class Look>
    void put_and_look(std::vector<T>& where, const T& what, Look look) {
      where[rank_] = what;
      all_.barrier_.arrive_and_wait();
      look();
      all_.barrier_.arrive_and_wait();
    }
    ThreadRanks& all_;
    uint32_t rank_;
  };

  std::barrier<> barrier_;
  std::vector<lab::WindowVote> votes_;
  std::vector<std::string> texts_;
  std::vector<std::vector<Bytes>> parcels_, arrived_;
  std::vector<std::unique_ptr<Link>> links_;
};

}  // namespace mrclab::test
