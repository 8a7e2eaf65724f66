import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect, Layer, Redacted, Ref } from "effect";
import { TestClock } from "effect/testing";
import { ed25519Key } from "../../adapters/signer/ed25519-key.ts";
import { evidenceSignerFromText } from "../../adapters/signer/evidence-signer.ts";
import { logPublisher, logSigner, type LogSource } from "../../app/log/log-services.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { printVerifierKey, verifierKey } from "../../core/log/notes/verifier-key.ts";
import { indexMemory } from "../../adapters/memory/index-store.ts";
import { witnessClientHttp } from "../../adapters/witness-http/witness-client.ts";
import { Instance } from "../../ports/instance.ts";
import { LedgerNodes } from "../../ports/ledger/ledger.ts";
import { LogSigner, publicKeysOf } from "../../ports/log/log-signer.ts";
import { testInstance } from "../core/use-cases/test-instance.ts";
import { LogPublisher } from "../../core/use-cases/log/log-publisher.ts";
import { WitnessPolicies } from "../../core/use-cases/log/witness-policies.ts";
import { patientClock } from "../doubles/patient-clock.ts";
import { logIdentity } from "../doubles/log-identity.ts";
import { TEST_GENESIS_HASH } from "../arbitraries/test-ledger.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "log-services-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const keyText = (byte: number) => Redacted.make(Buffer.alloc(32, byte).toString("base64"));
const witnessLine = (byte: number, more = " https://w.example", name = "w") => {
  const { publicKey } = ed25519Key(new Uint8Array(32).fill(byte));
  return `witness ${name} ${printVerifierKey(verifierKey("w.example", "cosignature", publicKey))}${more}`;
};

const EMBEDDED = {
  kind: "embedded",
  port: 0,
  demo: false,
  finalitySlots: 0,
  witnesses: false,
} as const;
const REMOTE = {
  kind: "remote",
  rpcUrls: [Redacted.make(new URL("http://127.0.0.1:1"))],
  webSocketUrl: Redacted.make(new URL("ws://127.0.0.1:1")),
  yellowstone: null,
  cluster: "devnet",
  deployment: LOCAL_DEPLOYMENT,
} as const;

const sourceOf = (settings: Partial<LogSource["settings"]>): LogSource => ({
  dataDir: folder,
  settings: {
    ledger: REMOTE,
    logName: "log.example",
    logKey: keyText(2),
    logKeyFile: null,
    logWitnesses: null,
    logWitnessesAppendOnly: null,
    ...settings,
  },
});

/** The log's key and its publisher as a start makes them; the evidence key's bytes are 1. */
const servicesOf = (source: LogSource) =>
  logPublisher(source).pipe(
    Layer.provideMerge(logSigner(source)),
    Layer.provide(evidenceSignerFromText(keyText(1), null)),
    Layer.provide(
      Layer.mergeAll(
        indexMemory(),
        witnessClientHttp,
        Layer.succeed(Instance, testInstance()),
        logIdentity(TEST_GENESIS_HASH, testInstance().deployment),
        Layer.succeed(LedgerNodes, { count: 1, readFromEach: () => Effect.succeed([]) }),
      ),
    ),
  );

/** The log's name and public key, or how the start is refused. */
const startOf = (source: LogSource): Promise<string> =>
  Effect.runPromise(
    Effect.gen(function* () {
      const signer = yield* LogSigner;
      const keys = (yield* publicKeysOf(signer)).map((key) => key.toHex());
      return signer === null ? "no log" : `${signer.name} ${keys.join(" ")}`;
    }).pipe(
      Effect.provide(servicesOf(source)),
      Effect.catch((failure) => Effect.succeed(failure.message)),
    ),
  );

const policyFile = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name);
  await Bun.write(path, text);
  return path;
};

test("a log key of its own is taken, with its name", async () => {
  const publicKey = ed25519Key(new Uint8Array(32).fill(2)).publicKey.toHex();
  expect(await startOf(sourceOf({}))).toBe(`log.example ${publicKey}`);
});

test("a remote ledger without a log key has no log", async () => {
  expect(await startOf(sourceOf({ logKey: null, logName: null }))).toBe("no log");
});

test("the embedded ledger has a log named localhost, with one generated key", async () => {
  const source = sourceOf({ ledger: EMBEDDED, logKey: null, logName: null });
  const first = await startOf(source);
  expect(first).toMatch(/^localhost [0-9a-f]{64}$/);
  expect(await startOf(source)).toBe(first);
  expect(existsSync(join(folder, "log-signing-key"))).toBe(true);
});

test("the evidence key as the log key stops the start, in one line", async () => {
  expect(await startOf(sourceOf({ logKey: keyText(1) }))).toBe(
    "The log key of LOG_SIGNING_KEY cannot be used: it is an evidence key; the log needs a key of its own.",
  );
});

test.each([
  ["with the log's own key", `${witnessLine(2)}\nquorum w\n`, "w has the log's own key"],
  ["with the evidence key", `${witnessLine(1)}\nquorum w\n`, "has the public key of a key that"],
  ["without a URL", `${witnessLine(3, "")}\nquorum w\n`, "the witness w has no URL"],
  ["in a policy without a quorum", `${witnessLine(3)}\n`, "the policy has no quorum line"],
])("a witness %s stops the start", async (_, text, reason) => {
  const logWitnesses = await policyFile("policy", text);
  const refused = await startOf(sourceOf({ logWitnesses }));
  expect(refused).toStartWith(`LOG_WITNESSES ${logWitnesses} cannot be used: `);
  expect(refused).toContain(reason);
});

test("a faulty line of the usual file is told with the file, the line's number and its text", async () => {
  const dataDir = join(folder, "faulty");
  const usual = join(dataDir, "log-witnesses");
  const source = { ...sourceOf({}), dataDir };
  await Bun.write(usual, `# who watches\n${witnessLine(3)}\nquorum nobody\n`);
  expect(await startOf(source)).toBe(
    `${usual} cannot be used: line 3, "quorum nobody": nobody is not defined before it is named`,
  );
  await Bun.write(usual, `${witnessLine(3)}\nquorum w\n`);
  const other = join(dataDir, "log-witnesses-append-only");
  await Bun.write(other, `${witnessLine(4)}\nquorum w\n`);
  expect(await startOf(source)).toStartWith(
    `${other} cannot be used: w is defined in LOG_WITNESSES`,
  );
});

test("a policy with a witness of another key is taken; one that is no file is not", async () => {
  const logWitnesses = await policyFile("good", `${witnessLine(3)}\nquorum w\n`);
  expect(await startOf(sourceOf({ logWitnesses }))).toStartWith("log.example ");
  const missing = join(folder, "missing");
  expect(await startOf(sourceOf({ logWitnesses: missing }))).toContain("cannot be used: ENOENT");
});

test.each([
  [
    "with a key of LOG_WITNESSES",
    `${witnessLine(3, " https://v", "v")}\nquorum v\n`,
    "the key of v",
  ],
  [
    "under a name of LOG_WITNESSES",
    `${witnessLine(4)}\nquorum w\n`,
    "w is defined in LOG_WITNESSES",
  ],
  ["without a URL", `${witnessLine(4, "", "v")}\nquorum v\n`, "the witness v has no URL"],
])("an append-only witness %s stops the start", async (_, text, reason) => {
  const logWitnesses = await policyFile("on-ledger", `${witnessLine(3)}\nquorum w\n`);
  const logWitnessesAppendOnly = await policyFile("append-only", text);
  const refused = await startOf(sourceOf({ logWitnesses, logWitnessesAppendOnly }));
  expect(refused).toStartWith(
    `LOG_WITNESSES_APPEND_ONLY ${logWitnessesAppendOnly} cannot be used: `,
  );
  expect(refused).toContain(reason);
});

test("append-only witnesses of other keys and names are taken, with others and alone", async () => {
  const logWitnesses = await policyFile("on-ledger", `${witnessLine(3)}\nquorum w\n`);
  const logWitnessesAppendOnly = await policyFile(
    "append-only",
    `${witnessLine(4, " https://v", "v")}\nquorum v\n`,
  );
  for (const given of [{ logWitnesses, logWitnessesAppendOnly }, { logWitnessesAppendOnly }])
    expect(await startOf(sourceOf(given))).toStartWith("log.example ");
});

test("a policy that changes is taken over without a restart, and one that cannot be used is told and is not", async () => {
  const one = `${witnessLine(3)}\n`;
  const other = witnessLine(4).replace("witness w ", "witness v ");
  const logWitnesses = await policyFile("changing", `${one}quorum w\n`);
  const logKeyFile = join(folder, "changing.key");
  const away = join(folder, "changing.away");
  await writeFile(logKeyFile, Redacted.value(keyText(2)), { mode: 0o600 });
  await Effect.runPromise(
    Effect.gen(function* () {
      const { status } = yield* LogPublisher;
      const policies = yield* WitnessPolicies;
      const now = Effect.gen(function* () {
        const { problem } = yield* Ref.get(policies);
        return { names: (yield* status).policy?.witnesses.map(({ name }) => name), problem };
      });
      /** Reads on until it is so. The file is read in real time, for which a busy machine may take seconds. */
      const becomes = Effect.fnUntraced(function* (
        lines: string,
        wanted: Effect.Success<typeof now>,
      ) {
        yield* Effect.promise(() => policyFile("changing", lines));
        for (let turn = 0; turn < 20_000 && !Bun.deepEquals(yield* now, wanted); turn++) {
          yield* TestClock.adjust("2 seconds");
          yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)));
        }
        expect(yield* now).toEqual(wanted);
      });
      const both = { names: ["w", "v"], problem: undefined };
      yield* becomes(`${one}${other}\nquorum w\n`, both);
      const problem = `LOG_WITNESSES ${logWitnesses} cannot be used: line 2, "quorum nobody": nobody is not defined before it is named`;
      yield* becomes(`${one}quorum nobody\n`, { ...both, problem });
      yield* becomes(`${one}${other}\nquorum w\n`, both);
      const first = { names: ["w"], problem: undefined };
      yield* becomes(`${one}quorum w\n`, first);
      // The log's key is another matter, of which the log itself tells.
      yield* Effect.promise(() => rename(logKeyFile, away));
      for (let turn = 0; turn < 200; turn++) {
        yield* TestClock.adjust("2 seconds");
        yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)));
        expect(yield* now).toEqual(first);
      }
      yield* Effect.promise(() => rename(away, logKeyFile));
      yield* becomes(`${one}quorum nobody\n`, { ...first, problem });
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          servicesOf(sourceOf({ logKey: null, logKeyFile, logWitnesses })),
          patientClock(),
        ),
      ),
    ),
  );
});

test("without any file, one that appears in the data directory is taken over without a restart", async () => {
  const dataDir = join(folder, "from-nothing");
  const source = { ...sourceOf({}), dataDir };
  await Effect.runPromise(
    Effect.gen(function* () {
      const { status } = yield* LogPublisher;
      expect((yield* status).policy).toBeNull();
      yield* Effect.promise(() =>
        Bun.write(join(dataDir, "log-witnesses"), `${witnessLine(3)}\nquorum w\n`),
      );
      for (let turn = 0; turn < 20_000 && (yield* status).policy === null; turn++) {
        yield* TestClock.adjust("2 seconds");
        yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 1)));
      }
      expect((yield* status).policy?.witnesses.map(({ name }) => name)).toEqual(["w"]);
    }).pipe(Effect.provide(Layer.provideMerge(servicesOf(source), patientClock()))),
  );
});
