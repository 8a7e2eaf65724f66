#!/usr/bin/env node
import process from "node:process";
import { main } from "../command-line/main.ts";
import { endWithNpx } from "../command-line/npx-launcher.ts";

await endWithNpx();
// Not process.exit(), which could cut output that is still on its way to a pipe.
process.exitCode = await main(process.argv.slice(2), process);
