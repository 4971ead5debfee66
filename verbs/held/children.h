#pragma once
// Processes that a held program starts: they are not held, and have none of its connection.

namespace mrclab::verbs::held {

/// The program has started processes: what comes through its pipes may be theirs.
bool has_children();
/// The calling process is one that shares this one's memory until it executes (vfork).
bool is_borrowed();

/// At attach: forked children are told.
void expect_forks();

}  // namespace mrclab::verbs::held
