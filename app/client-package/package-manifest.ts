import packageJson from "../../package.json" with { type: "json" };

/** What the client's modules import from elsewhere; the versions are the service's own. */
const DEPENDENCIES = [
  "@noble/curves",
  "@noble/hashes",
  "@scure/base",
] as const satisfies ReadonlyArray<keyof typeof packageJson.dependencies>;

/** The entries by their names in an import, each with its module below `client/`. */
export const ENTRIES = {
  ".": "index",
  "./verify": "verify",
  "./node": "node/index",
  "./merchant": "merchant",
  "./x402": "x402",
  "./generated": "generated/index",
} as const;

/** The commands by their names, each with its module below `client/`. */
export const COMMANDS = { "settlement-evidence": "bin/settlement-evidence" } as const;

/** The package.json of the client package. */
export const packageManifest = () => ({
  name: packageJson.name,
  version: packageJson.version,
  description:
    "Pays merchants through settlement escrows, waits for the settlement and verifies its evidence offline.",
  license: packageJson.license,
  type: "module",
  sideEffects: false,
  engines: { node: ">=20.19" },
  exports: {
    ...Object.fromEntries(
      Object.entries(ENTRIES).map(([entry, module]) => [
        entry,
        { types: `./client/${module}.d.ts`, default: `./client/${module}.js` },
      ]),
    ),
    "./package.json": "./package.json",
  },
  bin: Object.fromEntries(
    Object.entries(COMMANDS).map(([name, module]) => [name, `./client/${module}.js`]),
  ),
  files: ["client", "core", "README.md", "LICENSE"],
  dependencies: Object.fromEntries(
    DEPENDENCIES.map((name) => [name, packageJson.dependencies[name]]),
  ),
  // Only `./generated` needs kit, and whoever signs has it; only the command `mcp` and `./x402` need the others.
  peerDependencies: {
    "@modelcontextprotocol/server": packageJson.dependencies["@modelcontextprotocol/server"],
    "@solana/kit": packageJson.dependencies["@solana/kit"],
    "@x402/core": packageJson.devDependencies["@x402/core"],
  },
  peerDependenciesMeta: {
    "@modelcontextprotocol/server": { optional: true },
    "@solana/kit": { optional: true },
    "@x402/core": { optional: true },
  },
});
