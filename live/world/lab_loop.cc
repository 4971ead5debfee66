#include "live/world/lab_loop.h"

namespace mrclab::lab {

LabLoop::LabLoop(std::function<bool()> step, Rule notice, Ends ends)
    : step_(std::move(step)), notice_(std::move(notice)), ends_(ends) {}

bool LabLoop::turn() {
  const bool alive = step_();
  if (!alive && ends_ == Ends::kWithProcesses) return false;
  for (const Rule& check : checks_) check();
  notice_();
  for (const Rule& rule : rules_) rule();
  return true;
}

}  // namespace mrclab::lab
