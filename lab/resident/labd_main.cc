// mrclab-labd: owns a lab that stays. Started by `mrclab up`; see lab/resident/resident.h.

#include "lab/resident/resident.h"

int main(int argc, char** argv) { return mrclab::lab::resident_main(argc, argv); }
