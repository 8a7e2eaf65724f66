import process from "node:process";
import { version } from "@effect/tsgo/package.json";

/** Kept between runs; another version of the checker begins anew. */
const TYPES = `node_modules/.cache/effect-tsgo-${version}.tsbuildinfo`;
const UNUSED = "knip --cache --cache-location node_modules/.cache/knip";

/**
 * What CI runs before the tests, by the name of each part. `typecheck` is TypeScript's compiler with Effect's rules in
 * it; `unshipped` is what only tests use.
 */
const PARTS: Readonly<Record<string, string>> = {
  fmt: "oxfmt --check .",
  lint: "oxlint --type-aware --deny-warnings .",
  typecheck: `"$(effect-tsgo get-exe-path)" --project tsconfig.json --tsBuildInfoFile ${TYPES} --pretty`,
  unused: UNUSED,
  unshipped: `${UNUSED}-production --production --exclude exports,types`,
};

/** The two that take longest begin first. */
const ORDER = ["lint", "typecheck", "unused", "unshipped", "fmt"];

/** Two are as many as use two cores, and as fit into the memory of a small machine. */
const LANES = 2;

/** A third less garbage collection in what is written in Go, within this memory for each. */
const GO = { GOGC: "400", GOMEMLIMIT: "3GiB" };

const HELP = `Runs what a change must pass before its tests, two parts at a time, and says what each found.

usage: bun run check [part...]

The parts are ${Object.keys(PARTS).join(", ")}; without one, all of them.
`;

/** Runs a command to its end, prints all that it said, and gives its exit code. */
const run = async (command: string): Promise<number> => {
  const child = Bun.spawn(["/bin/sh", "-c", `exec 2>&1; ${command}`], {
    env: { ...GO, ...process.env },
    stdin: "ignore",
    stdout: "pipe",
  });
  const [said, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
  process.stdout.write(`$ ${command}\n${said}`);
  return code;
};

const names = process.argv.slice(2);
const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
if (names.includes("--help") || names.includes("-h")) process.stdout.write(HELP);
else if (unknown !== undefined) {
  process.stderr.write(
    `There is no part ${unknown}. Give some of ${Object.keys(PARTS).join(", ")}.\n`,
  );
  process.exitCode = 64;
} else {
  const chosen = ORDER.filter((name) => names.length === 0 || names.includes(name));
  const waiting = chosen.map((name) => PARTS[name] ?? "");
  const codes: Array<number> = [];
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      codes.push(await run(next));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  process.exitCode = codes.find((code) => code !== 0) ?? 0;
}
