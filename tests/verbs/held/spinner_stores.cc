// Steps through instructions that store, and compares what memory has changed with what was foreseen. Prints what was
// stored unforeseen, then how many steps, stores and unmodelled instructions there were.

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "verbs/held/spin/instruction.h"

using namespace mrclab::held;

namespace {

constexpr size_t kBytes = 8192;
unsigned char* sandbox;  // below 4 GiB, for addresses of 32 bits; the snippet's stack is in it
unsigned char before[kBytes], handler_stack[256 * 1024];
Instruction foreseen;
uint64_t at;
bool had_one = false;
unsigned steps = 0, stores = 0, unknown = 0, wrong = 0;

bool is_foreseen(uint64_t address) {
  for (unsigned i = 0; i < foreseen.count; ++i) {
    const Store& store = foreseen.stores[i];
    if (address >= store.address && address < store.address + store.bytes) return true;
  }
  return false;
}

void look_back() {
  for (size_t i = 0; i < kBytes; ++i) {
    if (sandbox[i] == before[i]) continue;
    if (foreseen.kind == Kind::kUnknown || is_foreseen(reinterpret_cast<uint64_t>(sandbox) + i))
      continue;
    ++wrong;
    const auto* code = reinterpret_cast<const unsigned char*>(at);
    std::printf("unforeseen at %zu by", i);
    for (unsigned n = 0; n < foreseen.length; ++n) std::printf(" %02x", code[n]);
    std::printf("\n");
    return;
  }
}

void on_step(int, siginfo_t*, void* given) {
  const auto* context = static_cast<ucontext_t*>(given);
  if (had_one) look_back();
  std::memcpy(before, sandbox, kBytes);
  foreseen = next_instruction(*context);
  at = static_cast<uint64_t>(context->uc_mcontext.gregs[REG_RIP]);
  had_one = true;
  ++steps;
  stores += foreseen.count;
  if (foreseen.kind == Kind::kUnknown) ++unknown;
}

// What stores, in many ways. rbx: the middle of the sandbox; rsp: its upper part.
#define COMMON                                                                                   \
  "mov $1, %%al\n mov %%al, (%%rbx)\n movw $7, 3(%%rbx)\n movl $9, -8(%%rbx)\n"                  \
  "movq $-3, 16(%%rbx)\n mov $2, %%ecx\n mov %%rcx, 64(%%rbx,%%rcx,8)\n"                         \
  "mov %%ecx, 32(%%ebx)\n addl $5, (%%rbx)\n incq 8(%%rbx)\n notb 9(%%rbx)\n negw 12(%%rbx)\n"   \
  "xchg %%rcx, 24(%%rbx)\n lock xaddl %%ecx, (%%rbx)\n mov (%%rbx), %%eax\n"                     \
  "lock cmpxchgl %%ecx, (%%rbx)\n mov 40(%%rbx), %%rax\n mov 48(%%rbx), %%rdx\n"                 \
  "lock cmpxchg8b 40(%%rbx)\n lock cmpxchg16b 96(%%rbx)\n mov $777, %%rcx\n"                     \
  "btsq %%rcx, (%%rbx)\n mov $-65, %%ecx\n btcl %%ecx, (%%rbx)\n mov $-17, %%ecx\n"              \
  "btrw %%cx, (%%rbx)\n lock btsl $5, 4(%%rbx)\n sete 5(%%rbx)\n shlq $3, 16(%%rbx)\n"           \
  "shldq $7, %%rax, 16(%%rbx)\n movbe %%rcx, 120(%%rbx)\n movnti %%rax, 128(%%rbx)\n"            \
  "push %%rbx\n pushw $5\n popw %%cx\n push $77\n push 16(%%rbx)\n pop 24(%%rbx)\n"              \
  "pop 8(%%rsp)\n pop %%rcx\n call 1f\n jmp 2f\n 1: ret\n 2:\n push %%rbp\n mov %%rsp, %%rbp\n"  \
  "sub $64, %%rsp\n movq $3, -8(%%rbp)\n leave\n lea 256(%%rbx), %%rdi\n lea (%%rbx), %%rsi\n"   \
  "mov $37, %%ecx\n mov $0x5a, %%al\n rep stosb\n mov $9, %%ecx\n rep movsq\n movsb\n movsl\n"   \
  "stosw\n std\n mov $11, %%ecx\n rep movsb\n rep stosb\n stosq\n cld\n"                         \
  "lea 512(%%rbx), %%rdi\n mov $4, %%ecx\n repne stosb\n"                                        \
  "movdqu %%xmm0, 320(%%rbx)\n movq %%xmm1, 340(%%rbx)\n movd %%xmm1, 352(%%rbx)\n"              \
  "movhps %%xmm2, 360(%%rbx)\n movlpd %%xmm2, 368(%%rbx)\n movss %%xmm2, 376(%%rbx)\n"           \
  "movntdq %%xmm2, 384(%%rbx)\n pextrb $3, %%xmm2, 401(%%rbx)\n pextrq $1, %%xmm2, 408(%%rbx)\n" \
  "fldpi\n fstps 416(%%rbx)\n fldpi\n fstpt 424(%%rbx)\n fldpi\n fistpll 440(%%rbx)\n"           \
  "fnstcw 448(%%rbx)\n fnstenv 456(%%rbx)\n stmxcsr 488(%%rbx)\n movq %%mm0, 496(%%rbx)\n"       \
  "emms\n fxsave 1024(%%rbx)\n rdsspq %%rax\n pause\n mfence\n prefetcht0 (%%rbx)\n clflush (%%rbx)\n"

#define AVX                                                                                       \
  "vpcmpeqd %%ymm1, %%ymm1, %%ymm1\n vmovdqu %%ymm1, 544(%%rbx)\n vmovntps %%ymm1, -256(%%rbx)\n" \
  "vextracti128 $1, %%ymm1, 600(%%rbx)\n vmaskmovps %%ymm1, %%ymm1, 640(%%rbx)\n"                 \
  "vpmaskmovq %%xmm1, %%xmm1, 680(%%rbx)\n vmovhpd %%xmm1, 700(%%rbx)\n"

#define AVX512                                                                                    \
  "vpternlogd $255, %%zmm3, %%zmm3, %%zmm3\n vmovdqu64 %%zmm3, 704(%%rbx)\n mov $0x5555, %%ecx\n" \
  "kmovd %%ecx, %%k1\n vmovdqu8 %%zmm3, 776(%%rbx)%{%%k1%}\n vpmovqb %%zmm3, 848(%%rbx)\n"        \
  "vcompresspd %%zmm3, 856(%%rbx)%{%%k1%}\n kmovq %%k1, 920(%%rbx)\n"                             \
  "vpscatterdd %%zmm3, 1600(%%rbx,%%zmm4,4)%{%%k1%}\n vextractf64x4 $1, %%zmm3, 928(%%rbx)\n"     \
  "vcvtps2ph $0, %%ymm3, 968(%%rbx)\n"

// The stack pointer is the sandbox's while the trap flag is set; the handler has a stack of its own.
#define STEPPED(snippet)                                                                         \
  asm volatile(                                                                                  \
      "mov %%rsp, %%r12\n mov %%rbp, %%r13\n lea 3072(%%rbx), %%rsp\n pushfq\n"                  \
      "orq $0x100, (%%rsp)\n popfq\n" snippet                                                    \
      "lea 3072(%%rbx), %%rsp\n mov %%r13, %%rbp\n pushfq\n andq $~0x100, (%%rsp)\n"             \
      "popfq\n mov %%r12, %%rsp\n"                                                               \
      :                                                                                          \
      : "b"(sandbox + 4096)                                                                      \
      : "rax", "rcx", "rdx", "rsi", "rdi", "r12", "r13", "memory", "cc", "xmm0", "xmm1", "xmm2", \
        "xmm3", "xmm4")

// A variable of the thread: through FS, outside of the sandbox.
thread_local uint64_t of_the_thread;

bool segment_is_foreseen() {
  static Instruction found;
  static void* where;
  where = &of_the_thread;
  const auto here = [](int, siginfo_t*, void* given) {
    auto* context = static_cast<ucontext_t*>(given);
    const Instruction next = next_instruction(*context);
    if (next.count == 1 && next.stores[0].address == reinterpret_cast<uint64_t>(where))
      found = next;
  };
  struct sigaction action {};
  action.sa_sigaction = here;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  const uint64_t offset =
      reinterpret_cast<uint64_t>(where) - reinterpret_cast<uint64_t>(__builtin_thread_pointer());
  asm volatile(
      "sub $128, %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n nop\n movq $1, %%fs:(%0)\n pushfq\n"
      "andq $~0x100, (%%rsp)\n popfq\n add $128, %%rsp"
      :
      : "r"(offset)
      : "memory", "cc");
  return found.count == 1 && found.stores[0].bytes == 8 && of_the_thread == 1;
}

}  // namespace

int main() {
  sandbox = static_cast<unsigned char*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0));
  if (sandbox == MAP_FAILED) return 2;
  for (size_t i = 0; i < kBytes; ++i) sandbox[i] = static_cast<unsigned char>(i * 7 + 3);
  const stack_t stack{handler_stack, 0, sizeof(handler_stack)};
  struct sigaction action {};
  action.sa_sigaction = &on_step;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaltstack(&stack, nullptr) != 0 || sigaction(SIGTRAP, &action, nullptr) != 0) return 2;
  STEPPED(COMMON);
  had_one = false;  // the last step was into what is not stepped
  if (__builtin_cpu_supports("avx2")) STEPPED(AVX);
  had_one = false;
  if (__builtin_cpu_supports("avx512vbmi")) STEPPED(AVX512);
  std::printf("wrong %u; steps over 150: %d, stores over 100: %d, unmodelled under 12: %d\n", wrong,
              steps > 150, stores > 100, unknown < 12);
  std::printf("through fs: %d\n", segment_is_foreseen());
  std::fprintf(stderr, "steps %u stores %u unknown %u\n", steps, stores, unknown);
  return wrong == 0 ? 0 : 1;
}
