/** Generated from the binaries in programs/ by `bun run test:more build-programs`. */

/** SHA-256 of each program's committed binary, by its SBPF version. */
export const PROGRAM_HASHES = {
  custody: { v0: "b69f16d0ca62b0eb69f70eb74ceb75842f4459661844fb65454a40bca46d1d2b", v3: "325addc38841217ee15fcebc4595e561098bf2f9c2c0057e1acb93e9bb20df37" },
  attestor: { v0: "cc3fbf564169c71a33cb048ddd5c2574d501715086039bb71f6e301647e8baa5", v3: "f16e5c94947b7ffe589d8ddf56d4eb1169b4b172b929057d57e9361e4d2d91e8" },
} as const;
