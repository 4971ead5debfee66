#pragma once
// What the run with all faults shows of each of them: what its packets and answers went through at the parts that the
// fault broke, while it lasted. Only frames between ranks of the scenario's job count, and only what had happened when the
// job's steps had ended. No other run is looked at, so what the signs explain can be held against twins.
//
//   data     packets that it took (analysis/verdict/story_losses.h), or that a NIC without room refused
//   answers  SACKs, NACKs, ACKs and probes that were lost on its wires
//   held     messages that its host held before they were in memory
//   late     frames that were late on its wires, or packets that came late, cut or marked to where its burst went
//   marked   packets that it marked: their senders slow down
//   paused   pauses of its host (lab/chaos/blame_target.h: kObservableHits for a long one)
//   avoided  packets that went by other ports while a host of theirs had reported the one that the fault darkened: the
//            sender starts no frame there, so that none is lost, and has less to send by. A port that nobody needs
//            meanwhile is no sign

#include <array>
#include <string_view>
#include <vector>

#include "analysis/history/evidence.h"
#include "lab/twin/frame_watch.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

enum class Sign : uint8_t { kData, kAnswers, kHeld, kLate, kMarked, kPaused, kAvoided };
inline constexpr size_t kSigns = static_cast<size_t>(Sign::kAvoided) + 1;
std::string_view name_of(Sign sign);

/// How often each was seen.
using FaultSigns = std::array<uint64_t, kSigns>;

/// Of a fault of this kind no frame shows anything: what it does is to send nothing, or to send by other ways.
bool without_signs(faults::FaultKind kind);

/// Wires on which frames may be late by a fault of the scenario, for the watch.
std::set<WireId> delaying_wires(const Scenario& scenario);

/// By fault. `until`: when the steps of the job had ended.
std::vector<FaultSigns> fault_signs(const Scenario& scenario, const analysis::Evidence& evidence,
                                    const FrameWatch& frames, FabricTime until);

}  // namespace mrclab::lab
