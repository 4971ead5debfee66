#pragma once
// How unevenly an all_to_all goes to its receivers: tokens to experts of which some are more popular than others.

#include <cstdint>
#include <vector>

namespace mrclab::job {

/// For `count` receivers: the k-th most popular has a share of 1/k^(thousandths/1000), in millionths of the first one's;
/// which is the k-th is drawn by `key`. The same on every machine: made from products and square roots alone.
std::vector<uint32_t> zipf_shares(uint32_t count, uint32_t thousandths, uint64_t key);

/// The largest share over the mean, in thousandths: a step waits for whoever gets most.
uint32_t imbalance_thousandths(const std::vector<uint32_t>& shares);

}  // namespace mrclab::job
