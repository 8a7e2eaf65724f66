import { expect, test } from "bun:test";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { temporaryDirectory } from "./support/running-service.ts";

/** Lays out a package that is described by `manifest`, with the install step. */
const packageOf = async (manifest: object) => {
  const { path, remove } = await temporaryDirectory();
  await mkdir(join(path, "app"));
  await cp(join(import.meta.dir, "../../app/install.ts"), join(path, "app/install.ts"));
  await writeFile(join(path, "package.json"), JSON.stringify({ name: "any", ...manifest }));
  return { path, remove };
};

/** Runs the install step of a package that is described by `manifest`. */
const installing = async (manifest: object) => {
  const { path, remove } = await packageOf(manifest);
  const child = Bun.spawn([process.execPath, "app/install.ts"], {
    cwd: path,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  await remove();
  return { stdout, stderr, code };
};

test("an install that works says nothing", async () => {
  const { engines } = packageJson;
  expect(await installing({ engines })).toEqual({ stdout: "", stderr: "", code: 0 });
});

test("a first install on a terminal says what it does, and a later one nothing", async () => {
  const { path, remove } = await packageOf({
    engines: packageJson.engines,
    dependencies: { beside: "file:./beside" },
  });
  await mkdir(join(path, "beside"));
  await writeFile(
    join(path, "beside/package.json"),
    JSON.stringify({ name: "beside", version: "1.0.0" }),
  );
  const lock = Bun.spawn([process.execPath, "install", "--lockfile-only"], {
    cwd: path,
    stdio: ["ignore", "ignore", "ignore"],
  });
  expect(await lock.exited).toBe(0);
  const onTerminal = async () => {
    let said = "";
    const child = Bun.spawn([process.execPath, "app/install.ts"], {
      cwd: path,
      terminal: { data: (_terminal, bytes) => void (said += new TextDecoder().decode(bytes)) },
    });
    const code = await child.exited;
    child.terminal?.close();
    return { code, said: said.trim() };
  };
  const first = "Installing the packages, which takes up to a minute the first time ...";
  expect(await onTerminal()).toEqual({ code: 0, said: first });
  expect(await onTerminal()).toEqual({ code: 0, said: "" });
  await remove();
});

test("an install that fails says why in one line, and the start goes no further", async () => {
  const { engines } = packageJson;
  const { stderr, code } = await installing({ engines, dependencies: { gone: "file:./gone" } });
  expect(code).toBe(1);
  expect(stderr).toStartWith("The packages could not be installed: ");
  expect(stderr).toContain("gone");
  expect(stderr.trimEnd()).not.toContain("\n");
});

test("a Bun that is too old says which is needed and how to run it", async () => {
  expect(await installing({ engines: { bun: "99.0.0" } })).toEqual({
    stdout: "",
    stderr: `This is Bun ${Bun.version}, and 99.0.0 is needed; run it by: npx bun@99.0.0 …\n`,
    code: 1,
  });
});
