import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  endpointSkeleton,
  NameRefused,
  type Skeleton,
  storeSkeleton,
  templateSkeleton,
} from "./new/skeletons.ts";

const HELP = `Writes what a new part of the project begins with: files that compile, and a test that fails until they are done.

usage: bun run new KIND NAME

  endpoint SUBJECT/VERB-NOUN   a GET operation, such as service/list-mints
  store NAME                   an adapter of the index, such as duckdb
  template ID                  a proof template, such as parcel-delivered-v1

Prints the files and what is left to do. Nothing is written over; ends with 64 for a name that cannot be used.
`;

const KINDS: Readonly<Record<string, (name: string) => Skeleton>> = {
  endpoint: endpointSkeleton,
  store: storeSkeleton,
  template: templateSkeleton,
};

const ROOT = join(import.meta.dir, "..");
const refuse = (message: string): never => {
  process.stderr.write(`${message}\n`);
  process.exit(64);
};

const [kind = "", name, ...others] = process.argv.slice(2);
if (kind === "--help" || kind === "-h") {
  process.stdout.write(HELP);
  process.exit(0);
}
const skeletonOf = KINDS[kind];
if (skeletonOf === undefined || name === undefined || others.length > 0) refuse(HELP.trimEnd());
else
  try {
    const { files, next } = skeletonOf(name);
    const taken = Object.keys(files).find((file) => existsSync(join(ROOT, file)));
    if (taken !== undefined) refuse(`${taken} is there already; choose another name`);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(ROOT, file)), { recursive: true });
      writeFileSync(join(ROOT, file), text);
      process.stdout.write(`made  ${file}\n`);
    }
    for (const [at, step] of next.entries()) process.stdout.write(`${at + 1}. ${step}\n`);
  } catch (cause) {
    if (!(cause instanceof NameRefused)) throw cause;
    refuse(cause.message);
  }
