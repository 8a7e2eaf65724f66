import { rm } from "node:fs/promises";
import { join } from "node:path";
import { contractTypes } from "./contract-types.ts";
import { programClients } from "./program-clients.ts";

// Writes client/generated anew: the contract's types and the programs' clients.
const folder = join(import.meta.dir, "../../../client/generated");
await rm(folder, { recursive: true, force: true });
const files = { "contract.ts": await contractTypes(), ...(await programClients()) };
for (const [path, text] of Object.entries(files)) await Bun.write(join(folder, path), text);
process.stdout.write(`${Object.keys(files).length} files\n`);
