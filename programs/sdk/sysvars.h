#pragma once

#include "syscalls.h"

/* The ledger's clock, in Unix seconds. */
static inline i64 ledger_time(void) {
  Clock clock;
  sol_get_clock_sysvar(&clock);
  return clock.unix_timestamp;
}

/* Lamports that exempt `space` bytes of data from rent (Agave: sdk rent, Rent::minimum_balance). The threshold is 2.0
   years of rent, or 1.0 since SIMD-0194 folded the two years into the rate; no other value was ever used. */
static inline u64 rent_exempt_minimum(u64 space) {
  const u64 two = 0x4000000000000000ull;
  const u64 account_overhead = 128;
  Rent rent;
  sol_get_rent_sysvar(&rent);
  u64 lamports = (account_overhead + space) * rent.lamports_per_byte;
  return rent.threshold_bits == two ? lamports * 2 : lamports;
}
