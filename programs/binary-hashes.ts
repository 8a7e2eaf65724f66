import { binaryPath, PROGRAM_NAMES, SBPF_VERSIONS } from "./compile.ts";

/** The TypeScript table of the committed binaries' hashes, for the core. */
export const binaryHashes = async (): Promise<string> => {
  const lines = await Promise.all(
    PROGRAM_NAMES.map(async (name) => {
      const hashes = await Promise.all(
        SBPF_VERSIONS.map(async (version) => {
          const binary = await Bun.file(binaryPath(name, version)).bytes();
          return `${version}: "${new Bun.CryptoHasher("sha256").update(binary).digest("hex")}"`;
        }),
      );
      return `  ${name}: { ${hashes.join(", ")} },\n`;
    }),
  );
  return (
    "/** Generated from the binaries in programs/ by `bun run test:more build-programs`. */\n\n" +
    "/** SHA-256 of each program's committed binary, by its SBPF version. */\n" +
    `export const PROGRAM_HASHES = {\n${lines.join("")}} as const;\n`
  );
};
