#include "live/world/standstill.h"

#include "live/world/live_lab.h"

namespace mrclab::lab {

Standstill::Standstill(LiveLab& lab) : Standstill(lab.commits()) {}

Standstill::Standstill(CommitLimit& commits) : commits_(commits), last_commit_(commits.stop()) {}

Standstill::~Standstill() { commits_.go_on(); }

}  // namespace mrclab::lab
