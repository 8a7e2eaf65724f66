import { join } from "node:path";
import { hasSolders, PYTHON } from "../pays-once/clients.ts";

const command = (name: string): string =>
  `exec '${PYTHON}' -B '${join(import.meta.dir, `../sessions-python/${name}.py`)}'`;

/** Both sides in Python: their commands, and what they need and is absent here, null when they can run. */
export const pythonSides = () => ({
  seller: command("seller"),
  buyer: command("buyer"),
  buyers: command("buyer_lives"),
  missing: hasSolders() ? null : `solders for ${PYTHON} (examples/requirements.txt)`,
});
