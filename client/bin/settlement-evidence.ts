#!/usr/bin/env node
import process from "node:process";
import { main } from "../command-line/main.ts";
import { endWithNpx } from "../command-line/npx-launcher.ts";

await endWithNpx();
// Set, not called: what is still to be written to a pipe is written.
process.exitCode = await main(process.argv.slice(2), process);
