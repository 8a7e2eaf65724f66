// Runs before the packages are installed: it imports none.
import { existsSync } from "node:fs";
import packageJson from "../package.json" with { type: "json" };

const NEEDED = packageJson.engines.bun;

/** The lines of an installer's output that say what went wrong, as one. */
const causeOf = (output: string): string => {
  const lines = output.split("\n").map((line) => line.trim());
  const errors = new Set(lines.filter((line) => /^error\b/i.test(line)));
  const messages = errors.size > 0 ? [...errors] : lines.filter((line) => line !== "").slice(-1);
  return messages.map((line) => line.replace(/^error:\s*/i, "")).join("; ");
};

const stop = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

if (Bun.semver.order(Bun.version, NEEDED) < 0)
  stop(`This is Bun ${Bun.version}, and ${NEEDED} is needed; run it by: npx bun@${NEEDED} …`);

// A first install takes up to a minute; a later one finds all and takes a tenth of a second.
if (process.stderr.isTTY && !existsSync(`${import.meta.dir}/../node_modules`))
  process.stderr.write("Installing the packages, which takes up to a minute the first time ...\n");
const { exitCode, stdout, stderr } = Bun.spawnSync(
  [process.execPath, "install", "--frozen-lockfile", ...process.argv.slice(2)],
  { cwd: `${import.meta.dir}/..`, stdin: "ignore" },
);
if (exitCode !== 0)
  stop(
    `The packages could not be installed: ${causeOf(`${stdout.toString()}\n${stderr.toString()}`)}. Check the network and the registry's settings, or see all by: npx bun@${NEEDED} install --frozen-lockfile`,
  );
