import { readFileSync } from "node:fs";

/** The memory that a process holds, MB of a million bytes (Linux, proc(5), VmRSS in KiB). */
export const residentMb = (pid: number): number => {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kib) * 1024) / 1e6;
};
