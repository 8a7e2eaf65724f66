import { Database } from "bun:sqlite";
import { join } from "node:path";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { emptyRoot } from "../../core/log/tree/tree-hash.ts";
import { freePort, until } from "../app/support/running-service.ts";

const MODULE = join(import.meta.dir, "go-witnesses");
const LITEWITNESS = "filippo.io/torchwood/cmd/litewitness";
const LITE_NAME = "litewitness.example/w";

/** A witness that only sees logs grow: its name and key in policies, and its address. */
export type PublicWitness = { readonly name: string; readonly key: string; readonly url: string };

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const end = text.indexOf("\n");
    if (end >= 0) return text.slice(0, end);
  }
  throw new Error("the witnesses' helper ended");
};

/** What litewitness's `witnessctl add-log` and `add-key` write. */
const watch = (file: string, logs: ReadonlyArray<string>): void => {
  using db = new Database(file);
  for (const key of logs) {
    const origin = key.slice(0, key.indexOf("+"));
    db.run("INSERT INTO log (origin, tree_size, tree_hash) VALUES (?, 0, ?)", [
      origin,
      encodeBase64(emptyRoot()),
    ]);
    db.run("INSERT INTO key (origin, key) VALUES (?, ?)", [origin, key]);
  }
};

/**
 * Builds litewitness and the core of omniwitness from Go's modules, and starts both for the logs of these verifier keys.
 * @throws Error with Go's words when they cannot be built.
 */
export const startPublicWitnesses = async (
  go: string,
  folder: string,
  logs: ReadonlyArray<string>,
) => {
  const build = Bun.spawn([go, "build", "-o", `${folder}/`, ".", LITEWITNESS], {
    cwd: MODULE,
    stdout: "inherit",
    stderr: "inherit",
  });
  if ((await build.exited) !== 0)
    throw new Error("the witnesses in test/log/go-witnesses were not built");
  const socket = join(folder, "agent.sock");
  const helper = Bun.spawn([join(folder, "settlement-log-witnesses"), socket, ...logs], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const ready = JSON.parse(await firstLine(helper.stdout)) as {
    readonly key: string;
    readonly url: string;
    readonly fingerprint: string;
  };
  const database = join(folder, "litewitness.db");
  const url = `http://127.0.0.1:${freePort()}`;
  const litewitness = Bun.spawn(
    [join(folder, "litewitness"), "-name", LITE_NAME, "-db", database, "-ssh-agent", socket].concat(
      ["-key", ready.fingerprint, "-listen", url.replace("http://", "")],
    ),
    { stdout: "ignore", stderr: "pipe" },
  );
  process.on("exit", () => litewitness.kill());
  let told = "";
  const reading = (async () => {
    for await (const chunk of litewitness.stderr) told += new TextDecoder().decode(chunk);
  })();
  const stop = async (): Promise<void> => {
    litewitness.kill();
    await helper.stdin.end();
    await Promise.all([litewitness.exited, helper.exited, reading]);
  };
  try {
    const key = await until(
      "litewitness listens",
      () => Promise.resolve(/msg=listening/.test(told) ? /vkey=(\S+)/.exec(told)?.[1] : undefined),
      (found) => found !== undefined,
    );
    watch(database, logs);
    const witnesses: ReadonlyArray<PublicWitness> = [
      { name: "litewitness", key: key?.replaceAll('"', "") ?? "", url },
      { name: "omniwitness", key: ready.key, url: ready.url },
    ];
    return { witnesses, stop };
  } catch (cause) {
    await stop();
    throw new Error(`litewitness said: ${told}`, { cause });
  }
};
