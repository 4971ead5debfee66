#include "lab/live/standstill.h"

#include <stdexcept>

#include "lab/live/live_lab.h"

namespace mrclab::lab {

Standstill::Standstill(LiveLab& lab) : lab_(lab) {
  if (lab_.stands_still_) throw std::logic_error("a lab is stopped within a stop");
  lab_.stands_still_ = true;
  last_commit_ = lab_.gate_.stop_everywhere();
}

Standstill::~Standstill() {
  lab_.stands_still_ = false;
  lab_.publish_limit();
}

}  // namespace mrclab::lab
