/** Generated from the binaries in programs/ by `bun run test:more build-programs`. */

/** SHA-256 of each program's committed binary, by its SBPF version. */
export const PROGRAM_HASHES = {
  custody: { v0: "16c336186c2f7d81e9d9a7d6ce4fe447bd02a965e725cf6ca201bb30489d7a3e", v3: "94edf292e00bfbac94664dcea6fc87b948e9fa0565b39a16c26756d9adcd7743" },
  attestor: { v0: "6b7386c4608c9398f2b620ef70db7cb58a847700e6ba4f8af4c4a3c11bd9f941", v3: "9086270ebea48d892d9982fafbd67ab76d77648a3b4a68a35b53bbda65cc7d7d" },
} as const;
