#pragma once
// What happens in each turn of a live lab, and in which order: the lab's step sees what its processes and
// others did, then checks may end it, then faults that others made take effect, and only then rules look at
// how far it has come.
//
// The owner of a lab makes one, adds its own checks and rules, and lets a heartbeat call turn() every few
// milliseconds (netio/rpc/heartbeat.h).

#include <cstdint>
#include <functional>
#include <vector>

namespace mrclab::lab {

class LabLoop {
 public:
  using Rule = std::function<void()>;
  enum class Ends : uint8_t {
    kWithProcesses,  ///< a run: when no process is left, nothing more is done
    kNever,          ///< a lab that stays: faults can still be healed and reported
  };

  /// `step` is LiveLab::step(), `notice` is LabFaults::notice().
  LabLoop(std::function<bool()> step, Rule notice, Ends ends);

  /// Comes before what others did takes effect: a lab that must end throws here.
  void add_check(Rule check) { checks_.push_back(std::move(check)); }
  /// Comes after that, and after the rules that were added before.
  void add(Rule rule) { rules_.push_back(std::move(rule)); }

  /// False when the loop has ended.
  bool turn();

 private:
  std::function<bool()> step_;
  Rule notice_;
  Ends ends_;
  std::vector<Rule> checks_;
  std::vector<Rule> rules_;
};

}  // namespace mrclab::lab
