import { findName, nearestNames } from "./where/find-name.ts";
import { readProject } from "./where/project.ts";

const HELP = `Says which files to open for a name: contract, route, use case, port and test.

usage: bun run where NAME

  NAME   a path (/v1/escrows/{pda} or a real one, with its verb or without), a field (rent_payer), a problem code,
         a setting, an operation (readEscrow), a value (payout_account_shared) or a word of docs/glossary.md

Ends with 0 when the name is known, 1 with the nearest names when it is not.
`;

const name = process.argv.slice(2).join(" ").trim();
if (name === "" || name === "--help" || name === "-h") {
  process.stdout.write(HELP);
  process.exit(name === "" ? 64 : 0);
}
const project = readProject(`${import.meta.dir}/..`);
const meanings = findName(project, name);
for (const { title, places } of meanings) {
  process.stdout.write(`${title}\n`);
  for (const { role, file } of places) process.stdout.write(`  ${role.padEnd(9)} ${file}\n`);
}
if (meanings.length === 0) {
  const nearest = nearestNames(project, name);
  const hint = nearest.length === 0 ? "see bun run where --help" : `near it: ${nearest.join(", ")}`;
  process.stderr.write(`${name} is no name of this project; ${hint}\n`);
  process.exit(1);
}
