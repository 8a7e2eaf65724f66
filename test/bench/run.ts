import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandLine } from "../../app/command-line/command-line.ts";
import type { Figure } from "./support/report.ts";

const HELP = `Runs the benchmarks, each in a process of its own, and compares them with their goals.

usage: bun run bench [options] [name...]
       bun run bench [options] paired COMMIT [part of a route...]

  --quick   small sizes and short rounds
  --rows N  sizes of a store, such as 100000,1000000, where a benchmark takes them
  --json    the figures as JSON instead of a table
  --help    this text

A name is the beginning of a file's name in test/bench. \`paired\` compares the service with the one at COMMIT and has no
goal. Ends with 1 when a goal is missed.
`;

const { values, positionals } = readCommandLine(
  HELP,
  {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    rows: { type: "string" },
  },
  ["[name...]"],
);

/** Needs a commit, so it runs only when it is named. */
const PAIRED = "paired.bench.ts";
const COLUMNS = ["name", "goal", "figure", "unit", "ratio", "pass"] as const;
const WIDTHS = { name: 48, goal: 32, figure: 10, unit: 10, ratio: 30, pass: 4 } as const;

const cellOf = (value: Figure[keyof Figure]): string => {
  if (typeof value === "boolean") return value ? "yes" : "NO";
  return value === null ? "" : String(value);
};
const line = (cells: Readonly<Record<(typeof COLUMNS)[number], string>>): string =>
  `${COLUMNS.map((name) => cells[name].padEnd(WIDTHS[name]))
    .join("  ")
    .trimEnd()}\n`;
const tell = (text: string): void => {
  if (!values.json) process.stdout.write(text);
};

const [first, ...others] = positionals;
const isPaired = first === "paired";
const names = isPaired ? ["paired"] : positionals;
const files = [...new Bun.Glob("*.bench.ts").scanSync({ cwd: import.meta.dir })]
  .sort()
  .filter((file) =>
    names.length === 0 ? file !== PAIRED : names.some((name) => file.startsWith(name)),
  );
// Holds what benchmarks and their servers make. Bun's --no-orphans ends their processes together with this one.
const folder = mkdtempSync(join(tmpdir(), "settlement-bench-"));
// PostgreSQL runs as another user when root starts it.
chmodSync(folder, 0o711);
process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

const figures: Array<Figure> = [];
let isBroken = files.length === 0;
tell(
  line({
    name: "name",
    goal: "goal",
    figure: "figure",
    unit: "unit",
    ratio: "ratio",
    pass: "pass",
  }),
);
for (const file of files) {
  const options = values.rows === undefined ? [] : ["--rows", values.rows];
  const child = Bun.spawn(
    [process.execPath, `${import.meta.dir}/${file}`, ...(isPaired ? others : options)],
    {
      env: {
        ...process.env,
        TMPDIR: folder,
        NODE_ENV: "production",
        BENCH_QUICK: values.quick ? "1" : "0",
      },
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) {
    isBroken = true;
    process.stderr.write(`${file} failed\n`);
  }
  for (const json of text.split("\n").filter((row) => row.startsWith("{"))) {
    const figure = JSON.parse(json) as Figure;
    figures.push(figure);
    const cells = COLUMNS.map((name) => [name, cellOf(figure[name])] as const);
    tell(line(Object.fromEntries(cells) as Record<(typeof COLUMNS)[number], string>));
  }
}
if (values.json) process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
process.exit(isBroken || figures.some(({ pass }) => pass === false) ? 1 : 0);
