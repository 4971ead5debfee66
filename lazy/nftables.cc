// libnftables: the packet filters of switches that are not ours.

#include <nftables/libnftables.h>

#include "lazy/lazy_library.h"

namespace {

template <auto Function, class... Arguments>
auto call_nftables(const char* name, Arguments... arguments) {
  return mrclab::late::call_late<Function>(MRCLAB_LIBNFTABLES, name, arguments...);
}

}  // namespace

nft_ctx* nft_ctx_new(uint32_t flags) { return call_nftables<&nft_ctx_new>("nft_ctx_new", flags); }
void nft_ctx_free(nft_ctx* context) { call_nftables<&nft_ctx_free>("nft_ctx_free", context); }
int nft_ctx_buffer_output(nft_ctx* context) {
  return call_nftables<&nft_ctx_buffer_output>("nft_ctx_buffer_output", context);
}
int nft_ctx_buffer_error(nft_ctx* context) {
  return call_nftables<&nft_ctx_buffer_error>("nft_ctx_buffer_error", context);
}
const char* nft_ctx_get_output_buffer(nft_ctx* context) {
  return call_nftables<&nft_ctx_get_output_buffer>("nft_ctx_get_output_buffer", context);
}
const char* nft_ctx_get_error_buffer(nft_ctx* context) {
  return call_nftables<&nft_ctx_get_error_buffer>("nft_ctx_get_error_buffer", context);
}
void nft_ctx_output_set_flags(nft_ctx* context, unsigned int flags) {
  call_nftables<&nft_ctx_output_set_flags>("nft_ctx_output_set_flags", context, flags);
}
int nft_run_cmd_from_buffer(nft_ctx* context, const char* commands) {
  return call_nftables<&nft_run_cmd_from_buffer>("nft_run_cmd_from_buffer", context, commands);
}
