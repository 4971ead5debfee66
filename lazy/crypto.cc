// libcrypto: SHA-256 of histories and of a run's files, base64 and random bits for pages.

#define OPENSSL_SUPPRESS_DEPRECATED  // fabric/base/sha256.h
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

int SHA256_Init(SHA256_CTX* context) { return call_crypto<&SHA256_Init>("SHA256_Init", context); }
int SHA256_Update(SHA256_CTX* context, const void* data, size_t bytes) {
  return call_crypto<&SHA256_Update>("SHA256_Update", context, data, bytes);
}
int SHA256_Final(unsigned char* hash, SHA256_CTX* context) {
  return call_crypto<&SHA256_Final>("SHA256_Final", hash, context);
}

const EVP_MD* EVP_sha256() { return call_crypto<&EVP_sha256>("EVP_sha256"); }
int EVP_Digest(const void* data, size_t bytes, unsigned char* hash, unsigned int* hash_bytes,
               const EVP_MD* type, ENGINE* engine) {
  return call_crypto<&EVP_Digest>("EVP_Digest", data, bytes, hash, hash_bytes, type, engine);
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
