#pragma once
// What several verbs need: which lab is meant, and the rights to touch it.

#include <optional>
#include <string>
#include <string_view>

#include "lab/lab_record.h"

namespace mrclab::lab {

/// Throws InputError with "run with sudo" unless this process is root.
void require_root(const std::string& verb);

/// The lab of that name, or the only one there is. Throws InputError naming the labs that exist, and `how`
/// the verb is told which one.
LabRecord choose_lab(const std::optional<std::string>& name, std::string_view how = "with --lab",
                     const LabPaths& paths = {});

/// What a hint must add to a verb so that it means this lab, where several are up: " --lab octet", or
/// " octet" for verbs that take the name itself; else nothing.
std::string lab_option(const std::string& lab, const LabPaths& paths = {});
std::string lab_word(const std::string& lab, const LabPaths& paths = {});

/// "up", "crashed" (its owner died) or "stale" (from before the last boot).
std::string state_of(const LabRecord& record);

}  // namespace mrclab::lab
