// libcrypto: SHA-256 of histories and of a run's files, base64 and random bits for pages.

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "lazy/lazy_library.h"

namespace {

template <auto Function, class... Arguments>
auto call_crypto(const char* name, Arguments... arguments) {
  return mrclab::late::call_late<Function>(MRCLAB_LIBCRYPTO, name, arguments...);
}

}  // namespace

unsigned char* SHA256(const unsigned char* data, size_t bytes, unsigned char* hash) {
  return call_crypto<&SHA256>("SHA256", data, bytes, hash);
}

const EVP_MD* EVP_sha256() { return call_crypto<&EVP_sha256>("EVP_sha256"); }
int EVP_Digest(const void* data, size_t bytes, unsigned char* hash, unsigned int* hash_bytes,
               const EVP_MD* type, ENGINE* engine) {
  return call_crypto<&EVP_Digest>("EVP_Digest", data, bytes, hash, hash_bytes, type, engine);
}
EVP_MD_CTX* EVP_MD_CTX_new() { return call_crypto<&EVP_MD_CTX_new>("EVP_MD_CTX_new"); }
void EVP_MD_CTX_free(EVP_MD_CTX* context) {
  call_crypto<&EVP_MD_CTX_free>("EVP_MD_CTX_free", context);
}
int EVP_DigestInit_ex(EVP_MD_CTX* context, const EVP_MD* type, ENGINE* engine) {
  return call_crypto<&EVP_DigestInit_ex>("EVP_DigestInit_ex", context, type, engine);
}
int EVP_DigestUpdate(EVP_MD_CTX* context, const void* data, size_t bytes) {
  return call_crypto<&EVP_DigestUpdate>("EVP_DigestUpdate", context, data, bytes);
}
int EVP_DigestFinal_ex(EVP_MD_CTX* context, unsigned char* hash, unsigned int* hash_bytes) {
  return call_crypto<&EVP_DigestFinal_ex>("EVP_DigestFinal_ex", context, hash, hash_bytes);
}

int EVP_EncodeBlock(unsigned char* text, const unsigned char* data, int bytes) {
  return call_crypto<&EVP_EncodeBlock>("EVP_EncodeBlock", text, data, bytes);
}
int RAND_bytes(unsigned char* bytes, int count) {
  return call_crypto<&RAND_bytes>("RAND_bytes", bytes, count);
}
int CRYPTO_memcmp(const void* a, const void* b, size_t bytes) {
  return call_crypto<&CRYPTO_memcmp>("CRYPTO_memcmp", a, b, bytes);
}
