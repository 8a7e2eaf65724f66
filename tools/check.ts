import process from "node:process";

/** What CI runs before the tests, in order, by the name of each part. */
const PARTS: Readonly<Record<string, ReadonlyArray<string>>> = {
  fmt: ["oxfmt --check ."],
  lint: ["oxlint --type-aware --deny-warnings ."],
  typecheck: ["tsc --project tsconfig.json"],
  effect: ['effect-tsgo diagnostics --project "$PWD/tsconfig.json" --strict'],
  unused: ["knip", "knip --production --exclude exports,types"],
};

const HELP = `Runs what a change must pass before its tests, and stops at the first part that fails.

usage: bun run check [part...]

The parts are ${Object.keys(PARTS).join(", ")}; without one, all of them.
`;

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
if (names.includes("--help") || names.includes("-h")) process.stdout.write(HELP);
else if (unknown !== undefined) {
  process.stderr.write(
    `There is no part ${unknown}. Give some of ${Object.keys(PARTS).join(", ")}.\n`,
  );
  process.exitCode = 64;
} else
  for (const name of names.length > 0 ? names : Object.keys(PARTS))
    for (const command of PARTS[name] ?? []) {
      process.stdout.write(`$ ${command}\n`);
      const { exitCode } = Bun.spawnSync(["/bin/sh", "-c", command], {
        stdio: ["inherit", "inherit", "inherit"],
      });
      if (exitCode !== 0) process.exit(exitCode);
    }
