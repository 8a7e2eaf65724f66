import { readCommandLine } from "../../../app/command-line/command-line.ts";
import { VECTORS, writeFiles } from "./vector-folder.ts";

const HELP = `Records what every operation answers, into test/vectors/http-answers or into a folder. Without a folder the
pages of docs/ that are made of it are written as well.

usage: bun run test:more record-answers [folder...]

  --help   this text

The first folder counts.
`;

const { positionals } = readCommandLine(HELP, {}, ["[folder...]"]);
// Loads the whole service, which neither the help nor a wrong option needs.
const { recordedFiles, recordScenes } = await import("./recorded-files.ts");
const { writePages } = await import("../../pages/pages.ts");
await writeFiles(positionals[0] ?? VECTORS, recordedFiles(await recordScenes()));
if (positionals.length === 0) await writePages();
