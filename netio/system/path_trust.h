#pragma once
// Who may have written a file that this process acts on.

#include <filesystem>

namespace mrclab::netio {

/// Could another user than the trusted ones (trusted_users.h) and that of sudo have written this file, or have put it
/// where it is? So it is if it, or a folder on the way to it, belongs to another user or lets others write, by its mode
/// or an access list. Others may write into a sticky folder such as /tmp, where they cannot replace what they do not own;
/// and a group that is its owner's alone, as Debian makes one for each user, is no others. False if there is no such file.
bool others_may_have_written(const std::filesystem::path& file);

}  // namespace mrclab::netio
