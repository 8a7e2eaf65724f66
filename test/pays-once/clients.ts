import { join } from "node:path";

/** The Python that runs programs in it: `PYTHON`, or `python3`. */
export const PYTHON: string = process.env["PYTHON"] ?? "python3";

/** Whether it has solders, which signs. */
export const hasSolders = (): boolean => {
  try {
    return Bun.spawnSync([PYTHON, "-c", "import solders"], {
      stdout: "ignore",
      stderr: "ignore",
    }).success;
  } catch {
    return false;
  }
};

/** The client in Python: its command, and what it needs and is absent here, null when it can run. */
export const pythonClient = () => ({
  command: `exec '${PYTHON}' -B '${join(import.meta.dir, "python_client.py")}'`,
  missing: hasSolders() ? null : `solders for ${PYTHON} (examples/requirements.txt)`,
});
