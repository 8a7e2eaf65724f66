#pragma once

/* Fixed-width integers, booleans and the two byte strings the ledger is made of. */

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;
typedef _Bool bool;
#define true 1
#define false 0
#define NULL ((void *)0)

/* 32 and 64 bytes kept as words: a copy or comparison is four or eight 64-bit loads. The VM allows them at any address. */
typedef struct {
  u64 word[4];
} Bytes32;
typedef struct {
  u64 word[8];
} Bytes64;
typedef Bytes32 Pubkey;

static inline bool same32(const Bytes32 *a, const Bytes32 *b) {
  return ((a->word[0] ^ b->word[0]) | (a->word[1] ^ b->word[1]) | (a->word[2] ^ b->word[2]) |
          (a->word[3] ^ b->word[3])) == 0;
}

static inline bool is_zero32(const Bytes32 *a) {
  return (a->word[0] | a->word[1] | a->word[2] | a->word[3]) == 0;
}

/* A function of its own: the compiler allows 512 bytes of stack per function, and inlining would add frames up. */
#define NOINLINE static __attribute__((noinline, unused))

/* Each handler returns 0 or a custom error code; this returns the code to the caller as soon as a rule is broken. */
#define REQUIRE(condition, error) \
  do {                            \
    if (!(condition)) return (error); \
  } while (0)

#define TRY(call)             \
  do {                        \
    u64 error_ = (call);      \
    if (error_) return error_; \
  } while (0)
