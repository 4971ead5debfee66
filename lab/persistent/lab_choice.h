#pragma once
// What several verbs need: which lab is meant, and the rights to touch it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// The lab of that name, or the only one there is. Throws InputError that names the labs there are
/// and how to choose one for this verb: "with --lab", "as NAME".
LabRecord choose_lab(const std::optional<std::string>& name, std::string_view how = "with --lab",
                     const LabPaths& paths = {});

/// The lab of a verb that takes it as a word: `--lab` means the same, and not both are given. Throws InputError.
std::optional<std::string> named_lab(const std::optional<std::string>& word,
                                     const std::optional<std::string>& option);

/// What a hint must add to a command so that it means this lab, if several are up: " --lab octet",
/// or " octet" for verbs that take the name as a word. Nothing if there is only one lab.
std::string lab_option(const std::string& lab, const LabPaths& paths = {});
std::string lab_word(const std::string& lab, const LabPaths& paths = {});

/// Does the pattern of an --only name this port ("h3:p2"), by its own name or by that of its node?
bool names_port(std::string_view pattern, std::string_view port);
/// Refuses the pattern of an --only that names what is not among these names of nodes, ports ("h3:p2") and links
/// ("h3:p2--p2.t0-0:d3"), of which each stands for its ports and they for their nodes. `kind` is for the message.
void check_only(const std::string& pattern, const std::vector<std::string>& names,
                std::string_view kind);

}  // namespace mrclab::lab
