import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { readCommandLine } from "../../app/command-line/command-line.ts";
import { tmpdir } from "../temporary-root.ts";
import { GENERATORS } from "./toolchain.ts";

const HELP = `Generates clients from the OpenAPI document, compiles them and calls a service with each.

usage: bun run test:more clients [--install] [language...]

  --install   fetches the generators by the registries' own clients, into the folder CLIENT_TOOLS or into one that is removed at the end
  --help      this text

A language is python, go, java or typescript. One whose tools are neither on PATH nor in CLIENT_TOOLS is skipped, and the test's name says what is absent.
`;

const { values, positionals: names } = readCommandLine(
  HELP,
  { install: { type: "boolean", default: false } },
  ["[language...]"],
);
const isInstalling = values.install;
const own = process.env["CLIENT_TOOLS"];
const folder = own ?? (isInstalling ? await mkdtemp(join(tmpdir(), "client-tools-")) : undefined);

/** Runs programs one after the other, as far as they succeed. */
const install = async (
  commands: ReadonlyArray<ReadonlyArray<string>>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  for (const [program = "", ...words] of commands) {
    if (!program.includes("/") && Bun.which(program) === null) return;
    process.stdout.write(`${[program, ...words].join(" ")}\n`);
    const child = Bun.spawn([program, ...words], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit"],
    });
    if ((await child.exited) !== 0) return;
  }
};

const isWanted = (language: keyof typeof GENERATORS): boolean =>
  names.length === 0 || names.includes(language);

if (isInstalling && folder !== undefined) {
  await mkdir(folder, { recursive: true });
  const python = join(folder, "python");
  const pip = [join(python, "bin/pip"), "install", "--quiet"];
  const packages = (["python", "java"] as const).filter(isWanted).map((name) => GENERATORS[name]);
  // The generator formats what it makes with ruff.
  if (packages.length > 0)
    await install([
      ["python3", "-m", "venv", python],
      [...pip, ...packages, "ruff"],
    ]);
  if (isWanted("go"))
    await install([["go", "install", GENERATORS.go]], { GOBIN: join(folder, "go") });
  const npm = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"];
  const prefix = ["--prefix", join(folder, "typescript")];
  if (isWanted("typescript"))
    await install([[...npm, ...prefix, GENERATORS.typescript, "typescript@5"]]);
}

const pattern = names.length === 0 ? [] : ["--test-name-pattern", `: (${names.join("|")})( |$)`];
const tests = Bun.spawn(
  [process.execPath, "test", "./test/generated-clients/generated.clients.ts", ...pattern],
  {
    stdio: ["inherit", "inherit", "inherit"],
    env: {
      ...process.env,
      ...(folder === undefined
        ? {}
        : { CLIENT_TOOLS: folder, PATH: `${join(folder, "python/bin")}:${process.env["PATH"]}` }),
    },
  },
);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
await tests.exited;
if (own === undefined && folder !== undefined) await rm(folder, { recursive: true, force: true });
process.exit(tests.exitCode ?? 1);
