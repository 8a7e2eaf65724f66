#pragma once

/* What every harness needs: values that may be anything, claims, and the runtime's syscalls as far as the claims depend on
   them. clang has checked the static assertions already, and ESBMC's own offsetof is no constant. */
typedef unsigned long size_t;
#define _Static_assert(condition, text) extern int asserted_by_clang

#include "sdk/syscalls.h"

u8 nondet_u8(void);
u16 nondet_u16(void);
u32 nondet_u32(void);
u64 nondet_u64(void);
i64 nondet_i64(void);
void __ESBMC_assume(bool condition);
void __ESBMC_assert(bool condition, const char *text);
#define ASSUME(condition) __ESBMC_assume(condition)
#define CLAIM(condition, text) __ESBMC_assert((condition), (text))

static void fill(u8 *bytes, u64 len) {
  for (u64 i = 0; i < len; i++) bytes[i] = nondet_u8();
}

static Bytes32 nondet_bytes32(void) {
  const Bytes32 value = {{nondet_u64(), nondet_u64(), nondet_u64(), nondet_u64()}};
  return value;
}

/* A time that a ledger may show: what is added to one stays an i64. */
static i64 nondet_time(void) {
  i64 time = nondet_i64();
  ASSUME(time >= 0 && time < 1ll << 62);
  return time;
}
