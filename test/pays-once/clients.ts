import { join } from "node:path";

/** The Python that runs the client: `PYTHON`, or `python3`. */
const python = process.env["PYTHON"] ?? "python3";

const hasSolders = (): boolean => {
  try {
    return Bun.spawnSync([python, "-c", "import solders"], {
      stdout: "ignore",
      stderr: "ignore",
    }).success;
  } catch {
    return false;
  }
};

/** The client in Python: its command, and what it needs and is absent here, null when it can run. */
export const pythonClient = () => ({
  command: `exec '${python}' -B '${join(import.meta.dir, "python_client.py")}'`,
  missing: hasSolders() ? null : `solders for ${python} (examples/requirements.txt)`,
});

/** The command of a client of this folder, bundled into `folder` so that it starts sooner. */
export const bundledClient = async (
  name: "our-client" | "double-paying-client",
  folder: string,
): Promise<string> => {
  await Bun.build({
    entrypoints: [join(import.meta.dir, `${name}.ts`)],
    outdir: folder,
    target: "bun",
    naming: "[name].js",
  });
  return `exec '${process.execPath}' '${join(folder, `${name}.js`)}'`;
};
