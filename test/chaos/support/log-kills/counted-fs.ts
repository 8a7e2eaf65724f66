import * as fs from "node:fs";
import { operation } from "./kill-switch.ts";

// What the bundle of the killed process has in place of node:fs: each change of a file is an operation.

/** `appendFileSync`, counted. */
export const appendFileSync = (...asked: Parameters<typeof fs.appendFileSync>): void =>
  operation(() => fs.appendFileSync(...asked));

/** `mkdirSync`, counted. */
export const mkdirSync = (path: string, options?: { readonly recursive?: boolean }) =>
  operation(() => fs.mkdirSync(path, options));

/** `rmSync`, counted. */
export const rmSync = (...asked: Parameters<typeof fs.rmSync>): void =>
  operation(() => fs.rmSync(...asked));

export const { constants, existsSync, readFileSync, statSync, writeSync } = fs;
