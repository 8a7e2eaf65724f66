/** Generated from the binaries in programs/ by `bun run test:more build-programs`. */

/** SHA-256 of each program's committed binary, by its SBPF version. */
export const PROGRAM_HASHES = {
  custody: { v0: "a91ecd1b503263ec028990264b575ad1ec706bbbbe68f934505efff0790eb3e2", v3: "2ea24b20ebde5f6465c673da9a32841f23e45a919f7e782f15cbdecf58bbcbce" },
  attestor: { v0: "2af4820c1c6b9270694bfbfe1a9b5c0dd6fbc1efb661079f18ab0935a6a33fdf", v3: "6beeaa9f924bc2a20b6d3a3bc670c6e914353ebb75530e521fe9fc757427daa7" },
} as const;
