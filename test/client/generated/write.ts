import { join } from "node:path";
import { contractTypes } from "./contract-types.ts";

// Writes client/generated anew: the contract's types.
await Bun.write(join(import.meta.dir, "../../../client/generated/contract.ts"), await contractTypes());
