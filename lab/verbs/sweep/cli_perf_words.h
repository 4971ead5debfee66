#pragma once
// Options of perftest and nccl-tests that have nothing to act on here. Command lines that people have are taken as they
// are; each such option is named on stderr with the reason why it changes nothing.

#include <memory>
#include <string>
#include <vector>

#include "lab/verbs/cli.h"

namespace mrclab::lab {

/// Which of them a command line has, in its order.
class WordsWithoutMeaning {
 public:
  void found(std::string note) { notes_.push_back(std::move(note)); }
  /// "mrclab: note: -F means nothing here: ...", a line for each.
  void print() const;

 private:
  std::vector<std::string> notes_;
};

/// Adds those of ib_write_bw and ib_write_lat (perftest 4.5 and 26, their --help and long_options). Options that would mean something and
/// are not there are refused with the option that means the same here.
std::shared_ptr<WordsWithoutMeaning> add_perftest_words(CLI::App& verb);
/// Adds those of nccl-tests (2.13 and 2.17, README.md and src/common.cu).
std::shared_ptr<WordsWithoutMeaning> add_nccl_words(CLI::App& verb);

}  // namespace mrclab::lab
