import { findName, nearestNames } from "./where/find-name.ts";
import { readProject } from "./where/project.ts";

const HELP = `Says which files to open for a name: contract, route, use case, port and test.

usage: bun run where NAME [--all]

  NAME   a path (/v1/escrows/{pda} or a real one, with its verb or without), a field (rent_payer), a problem code,
         a setting, an operation (readEscrow), a value (payout_account_shared), a table, a script, or any words, such
         as relay expiry: they are looked for in the names of folders, files, exports and docs headings
  --all  every place; otherwise at most four of a kind

The best comes first, each with what it is. Ends with 0 when the name is known, 1 with the nearest names when it is not.
`;

/** The most places of one role that are shown without --all: of the best meaning, and of each further one. */
const MOST_OF_A_ROLE = { best: 4, further: 1 };

const args = process.argv.slice(2);
const isAll = args.includes("--all");
const name = args
  .filter((arg) => arg !== "--all")
  .join(" ")
  .trim();
if (name === "" || name === "--help" || name === "-h") {
  process.stdout.write(HELP);
  process.exit(name === "" ? 64 : 0);
}
const project = readProject(`${import.meta.dir}/..`);
const meanings = findName(project, name);
for (const [at, { title, places }] of meanings.entries()) {
  process.stdout.write(`${title}\n`);
  const most = at === 0 ? MOST_OF_A_ROLE.best : MOST_OF_A_ROLE.further;
  const counts = new Map<string, number>();
  const width = Math.max(...places.map(({ role }) => role.length));
  // A file that is named so is never one of many.
  const isShown = (role: string, count: number): boolean =>
    isAll || role === "file" || count <= most;
  for (const { role, file } of places) {
    const count = (counts.get(role) ?? 0) + 1;
    counts.set(role, count);
    if (isShown(role, count)) process.stdout.write(`  ${role.padEnd(width)}  ${file}\n`);
  }
  const more = [...counts]
    .filter(([role, count]) => !isShown(role, count))
    .map(([role, count]) => `${count - most} ${role}`);
  if (more.length > 0) process.stdout.write(`  with --all: ${more.join(", ")} more\n`);
}
if (meanings.length === 0) {
  const nearest = nearestNames(project, name);
  const hint = nearest.length === 0 ? "see bun run where --help" : `near it: ${nearest.join(", ")}`;
  process.stderr.write(`${name} is no name of this project; ${hint}\n`);
  process.exit(1);
}
