import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");
const LOCAL = "http://127.0.0.1:3000";
/** The longest that the README's program may be. */
const MOST_LINES = 12;

const readme = (): Promise<string> => Bun.file(join(ROOT, "README.md")).text();

/** The first fenced block of the README: a program in JavaScript. @throws Error when it is too long, or none. */
export const readmeProgram = async (): Promise<string> => {
  const [, language, code = ""] = /^```(\w*)\n(.*?)^```$/ms.exec(await readme()) ?? [];
  const lines = code.trimEnd().split("\n");
  if (language !== "js" || lines.length > MOST_LINES)
    throw new Error(`the README begins with ${lines.length} lines of ${language ?? "nothing"}`);
  return code;
};

/** The README's command for the merchant's side, which names the escrow as `<escrow>`. */
export const readmeMerchant = async (): Promise<string> => {
  const line = /^ {4}(ESCROW='<escrow>' .*)$/m.exec(await readme())?.[1];
  if (line === undefined) throw new Error("the README has no command for the merchant's side");
  return line;
};

const run = async (folder: string, ...command: ReadonlyArray<string>): Promise<void> => {
  const child = Bun.spawn([...command], { cwd: folder, stdout: "ignore", stderr: "inherit" });
  if ((await child.exited) !== 0)
    throw new Error(`${command.join(" ")} ended otherwise than with 0`);
};

/**
 * Makes a folder what the README's commands make of it: the tarball that the service hands out is installed, what it
 * depends on is there, and its trust document is kept.
 */
export const installFrom = async (url: string, folder: string): Promise<void> => {
  const modules = join(folder, "node_modules");
  const place = join(modules, "settlement-evidence");
  await mkdir(place, { recursive: true });
  // A test installs nothing from a registry: these are the versions that the package asks for.
  for (const name of await readdir(join(ROOT, "node_modules")))
    if (!name.startsWith(".") && name !== "settlement-evidence")
      await symlink(join(ROOT, "node_modules", name), join(modules, name));
  const tarball = join(folder, "settlement-evidence.tgz");
  const answer = await fetch(`${url}/client/settlement-evidence.tgz`);
  if (!answer.ok) throw new Error(`the package: ${answer.status} ${await answer.text()}`);
  await writeFile(tarball, await answer.bytes());
  await run(place, "tar", "-xzf", tarball, "--strip-components=1");
  const trust = await fetch(`${url}/.well-known/evidence-trust.json`);
  await writeFile(join(folder, "trust.json"), await trust.text());
};

/**
 * Runs the README's program in `folder` against the service at `url`, with the merchant's side of the README as soon as
 * it has paid. Gives what the program printed, and what it ended with.
 */
export const tryReadme = async (url: string, folder: string, nonce = "order-1") => {
  const program = (await readmeProgram()).replaceAll(LOCAL, url).replace('"order-1"', `"${nonce}"`);
  await writeFile(join(folder, "agent.mjs"), program);
  const child = Bun.spawn([Bun.which("node") ?? process.execPath, "agent.mjs"], {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
  });
  const errors = new Response(child.stderr).text();
  let printed = "";
  let merchant: Promise<void> | undefined;
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    printed += part;
    const escrow = /^paid into (\w+)$/m.exec(printed)?.[1];
    if (escrow === undefined || merchant !== undefined) continue;
    const command = (await readmeMerchant())
      .replace("<escrow>", escrow)
      .replaceAll(LOCAL, url)
      .replace("npx bun@1.4.5", `'${process.execPath}'`);
    merchant = run(ROOT, "/bin/sh", "-c", command);
  }
  await merchant;
  const code = await child.exited;
  return { code, lines: printed.trim().split("\n"), errors: await errors };
};

/** What the README's program printed. @throws Error when it failed. */
export const runReadme = async (url: string, folder: string): Promise<ReadonlyArray<string>> => {
  const { code, lines, errors } = await tryReadme(url, folder);
  if (code !== 0) throw new Error(`the program printed ${lines.join("\n")}, and ${errors}`);
  return lines;
};
