#pragma once
// The types of <infiniband/verbs.h>, and its functions as what this library exports: the room is compiled with hidden
// visibility, so the header's declarations have to state theirs. The header replaces some functions by macros of the same
// name, which choose between them and an operation of the context; here the functions themselves are defined.

#pragma GCC visibility push(default)
#include <infiniband/verbs.h>
#pragma GCC visibility pop

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

/// For what no header declares: functions of IBVERBS_PRIVATE_34, and ours.
#define MRCLAB_EXPORT __attribute__((visibility("default")))

/// The version of a function of which libibverbs.map names two (old_versions.cc has the other); once, in the file that
/// defines it.
#define MRCLAB_LATEST(name) __asm__(".symver " #name ", " #name "@@@IBVERBS_1.1")

#include <errno.h>

namespace mrclab::verbs {

/// Both suites of tests of others look at errno even where the verb returns the error.
inline int failed(int error) {
  errno = error;
  return error;
}
template <typename T>
T* failed_with(int error) {
  errno = error;
  return nullptr;
}
inline int result(int error) { return error == 0 ? 0 : failed(error); }

}  // namespace mrclab::verbs
