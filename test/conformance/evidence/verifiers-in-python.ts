import { join } from "node:path";
import { PYTHON } from "../../pays-once/clients.ts";

const run = (script: string, args: ReadonlyArray<string>, input = ""): unknown => {
  const command = [PYTHON, "-B", join(import.meta.dir, script), ...args];
  const { stdout, stderr } = Bun.spawnSync(command, { stdin: Buffer.from(input) });
  if (stderr.length > 0) throw new Error(stderr.toString());
  return JSON.parse(stdout.toString());
};

/** Of each packet the first check that fails by the verifier in Python, null where all hold. */
export const packetsInPython = (trustFile: string, packets: ReadonlyArray<string>) =>
  run("packet.py", [trustFile], JSON.stringify(packets)) as ReadonlyArray<string | null>;

/** Of each file of two attestations in a file of vectors the checks that fail by the verifier in Python. */
export const equivocationsInPython = (trustFile: string, vectorsFile: string) =>
  run("equivocation.py", [trustFile, vectorsFile]) as ReadonlyArray<ReadonlyArray<string>>;
