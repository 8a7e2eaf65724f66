/** Generated from the binaries in programs/ by `bun run test:more build-programs`. */

/** SHA-256 of each program's committed binary, by its SBPF version. */
export const PROGRAM_HASHES = {
  custody: { v0: "39efedbff78dcf01396e3abca62cfdf9588e9be02969648eeaef675d58e6275b", v3: "8a84f5ea4683f39d98f9076b05ab04276204ea8c67a718571efd05f51a71ce91" },
  attestor: { v0: "6b7386c4608c9398f2b620ef70db7cb58a847700e6ba4f8af4c4a3c11bd9f941", v3: "9086270ebea48d892d9982fafbd67ab76d77648a3b4a68a35b53bbda65cc7d7d" },
} as const;
