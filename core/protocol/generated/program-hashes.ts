/** Generated from the binaries in programs/ by `bun run test:more build-programs`. */

/** SHA-256 of each program's committed binary, by its SBPF version. */
export const PROGRAM_HASHES = {
  custody: { v0: "16442c0b38658250e7c9c1bcd3247237717ba45e27d4ba0e50d517cfd73ca805", v3: "bf48b0700f36321f79dd53710a259d022bed8fe995af9d4d61075b2ce8e834ba" },
  attestor: { v0: "033887740aea6aff37f249e7afa3a85d10def3e0a10a4c475e120b3bada48d1a", v3: "a0a861cafcb963a3890eead38d2aa1ab1895a516b27099a90c92884cc3f8db06" },
} as const;
