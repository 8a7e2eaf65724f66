import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { readCommandLine } from "../../../app/command-line/command-line.ts";
import { tmpdir } from "../../temporary-root.ts";
import { run } from "./installed.ts";

const HELP = `Installs the built tarball into an empty folder by npm, tries it in each runtime, checks it by publint and attw, and weighs it.

usage: bun run test:more package [--install] [--quick]

  --quick     of the examples of sessions and x402 only the sales in Node 22, as the other runtimes' have the same programs
  --install   fetches Node 20, 22, 24 and Deno by npm, into the folder PACKAGE_RUNTIMES or into one that is removed at the end
  --help      this text

Runtimes are looked for in the folder PACKAGE_RUNTIMES. What is absent is skipped, and the test's name says so.
`;

const { values } = readCommandLine(HELP, {
  install: { type: "boolean", default: false },
  quick: { type: "boolean", default: false },
});

/** The packages on npm that hold each runtime. */
const PACKAGES = {
  node20: "node@20.20.2",
  node22: "node@22.23.3",
  node24: "node@24.21.0",
  deno: "deno@2.9.6",
} as const;

const own = process.env["PACKAGE_RUNTIMES"];
const folder = own ?? (await mkdtemp(join(tmpdir(), "package-runtimes-")));

const install = async ([name, spec]: readonly [string, string]): Promise<void> => {
  process.stdout.write(`npm install ${spec}\n`);
  const prefix = ["--prefix", join(folder, name)];
  const flags = ["--no-audit", "--no-fund", "--loglevel=error"];
  const { code, err } = await run(process.cwd(), "npm", "install", ...flags, ...prefix, spec);
  if (code !== 0) process.stderr.write(err);
};
if (values.install) await Promise.all(Object.entries(PACKAGES).map(install));

const tests = Bun.spawn(
  [process.execPath, "test", "./test/client/package/package.runtimes.ts", "--timeout", "300000"],
  {
    stdio: ["inherit", "inherit", "inherit"],
    env: { ...process.env, PACKAGE_RUNTIMES: folder, PACKAGE_QUICK: values.quick ? "1" : "" },
  },
);
process.exitCode = await tests.exited;
if (own === undefined) await rm(folder, { recursive: true, force: true });
