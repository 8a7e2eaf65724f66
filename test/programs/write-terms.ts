import { join } from "node:path";
import { termsSequences } from "./fixture/escrow-sequences.ts";

const FILE = join(import.meta.dir, "../vectors/escrow-terms.json");

// custody/terms.test.ts compares the stored file with these.
await Bun.write(FILE, `${JSON.stringify(termsSequences(), null, 2)}\n`);
