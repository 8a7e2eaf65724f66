#pragma once

#include "syscalls.h"

/* Logs `event` (its discriminator first) as one `Program data:` line. */
static inline void emit(const void *event, u64 len) {
  const Slice part = {event, len};
  sol_log_data(&part, 1);
}
