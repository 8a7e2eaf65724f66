import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Effect } from "effect";
import { joinLog } from "../../../app/log/join-log.ts";
import { printVerifierKey } from "../../../core/log/notes/verifier-key.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { testKey } from "../../core/log/support/test-signer.ts";
import { temporaryDirectory } from "../support/running-service.ts";

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => directory.remove());

const NOTHING = { deployment: null, witness: { name: null, keyFile: null, logsFile: null } };
const vkeyOf = (name: string, seed: number) =>
  printVerifierKey(testKey(`${name}/log/0123456789abcdef/0`, "ed25519", seed).key);

/** A place that answers as a service does: the statuses in turn, and then always the last one. */
const serviceOf = (...vkeys: ReadonlyArray<string | null>) => {
  const { custodyProgram, attestorProgram } = LOCAL_DEPLOYMENT;
  const programs = {
    custody: { address: custodyProgram },
    attestor: { address: attestorProgram },
  };
  let at = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      const vkey = vkeys[Math.min(at++, vkeys.length - 1)];
      return Response.json({ data: { log: vkey === null ? null : { vkey }, programs } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}`, [Symbol.dispose]: () => void server.stop(true) };
};

/** What a witness has after it joined, or why it did not. */
const joined = (service: string, dataDir: string, given: Parameters<typeof joinLog>[2] = NOTHING) =>
  Effect.runPromise(
    joinLog(service, dataDir, given).pipe(
      Effect.catch(({ message }) => Effect.succeed({ refused: message })),
    ),
  );

test("a witness that joins gets a key for itself, a name after it, the service's programs and the log", async () => {
  using service = serviceOf(null, vkeyOf("one", 1));
  const dataDir = join(directory.path, "new");
  const first = await joined(service.url, dataDir);
  expect(first).toEqual({
    deployment: LOCAL_DEPLOYMENT,
    witness: {
      name: expect.stringMatching(/^witness-[0-9a-f]{8}$/),
      keyFile: join(dataDir, "witness.key"),
      logsFile: join(dataDir, "logs.txt"),
    },
  });
  expect((await stat(join(dataDir, "witness.key"))).mode & 0o777).toBe(0o600);
  const list = await readFile(join(dataDir, "logs.txt"), "utf8");
  expect(list).toBe(`${vkeyOf("one", 1)} ${service.url}\n`);
  expect(await joined(service.url, dataDir)).toEqual(first);
  expect(await readFile(join(dataDir, "logs.txt"), "utf8")).toBe(list);
});

test("a second log is added to the first, and settings go before what is made", async () => {
  using one = serviceOf(vkeyOf("one", 1));
  using two = serviceOf(vkeyOf("two", 2));
  const dataDir = join(directory.path, "two");
  await joined(one.url, dataDir);
  const list = join(dataDir, "logs.txt");
  await writeFile(list, (await readFile(list, "utf8")).trimEnd());
  const given = {
    deployment: LOCAL_DEPLOYMENT,
    witness: { ...NOTHING.witness, name: "w.example" },
  };
  expect(await joined(two.url, dataDir, given)).toMatchObject({ witness: { name: "w.example" } });
  expect(await readFile(list, "utf8")).toBe(
    `${vkeyOf("one", 1)} ${one.url}\n${vkeyOf("two", 2)} ${two.url}\n`,
  );
});

test("a log that has another key than at first is refused, and the list stays", async () => {
  using service = serviceOf(vkeyOf("one", 1), vkeyOf("one", 3));
  const dataDir = join(directory.path, "other");
  await joined(service.url, dataDir);
  expect(await joined(service.url, dataDir)).toEqual({
    refused: expect.stringContaining("Ask its operator whether that is right"),
  });
  expect(await readFile(join(dataDir, "logs.txt"), "utf8")).toBe(
    `${vkeyOf("one", 1)} ${service.url}\n`,
  );
});
