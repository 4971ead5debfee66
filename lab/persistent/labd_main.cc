// mrclab-labd: owns a lab that stays. Started by `mrclab up`; see lab/persistent/persistent.h.

#include "lab/persistent/persistent.h"

int main(int argc, char** argv) { return mrclab::lab::persistent_main(argc, argv); }
