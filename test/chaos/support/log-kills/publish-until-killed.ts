import { Cause, Effect, Exit, Layer } from "effect";
import { logSignerFromFile } from "../../../../adapters/signer/log-signer.ts";
import { parseCheckpoint } from "../../../../core/log/checkpoint/checkpoint.ts";
import { makeLogPublisher } from "../../../../core/use-cases/log/log-publisher.ts";
import { parseLogStanding } from "../../../../core/use-cases/log/log-standing.ts";
import { IndexReader } from "../../../../ports/index/index-reader.ts";
import type { IndexWriter } from "../../../../ports/index/index-writer.ts";
import { LedgerNodes } from "../../../../ports/ledger/ledger.ts";
import { LogSigner, type SigningKey } from "../../../../ports/log/log-signer.ts";
import { LogStore } from "../../../../ports/log/log-store.ts";
import { WitnessClient } from "../../../../ports/log/log-source.ts";
import { logIdentity } from "../../../doubles/log-identity.ts";
import { openIndexOfNode, WORLD_LEDGER } from "../../../simulation/index-of-node.ts";
import {
  aimAt,
  inPhase,
  type KillAim,
  operation,
  operationCounts,
  tellLine,
} from "./kill-switch.ts";
import { StoreDatabase } from "../../../../adapters/sqlite/store-database.ts";

type Callable = (...values: Array<unknown>) => unknown;

/** Makes each statement that this process's stores run an operation, for good. */
const countStoreStatements = (): void => {
  // oxlint-disable-next-line typescript/unbound-method -- called with the store as `this`
  const { query, run } = StoreDatabase.prototype;
  const counted = new WeakSet<object>();
  StoreDatabase.prototype.query = function counting(this: StoreDatabase, sql: string) {
    const prepared = query.call(this, sql);
    const statement = prepared as object as Record<string, Callable>;
    if (counted.has(statement)) return prepared;
    counted.add(statement);
    for (const name of ["run", "get", "all"]) {
      const call = statement[name]?.bind(statement);
      if (call !== undefined) statement[name] = (...values) => operation(() => call(...values));
    }
    return prepared;
  } as typeof query;
  StoreDatabase.prototype.run = function running(this: StoreDatabase, ...asked: Array<unknown>) {
    return operation(() => Reflect.apply(run, this, asked));
  } as typeof run;
};

// Run as a process by kill-while-logging: syncs the store in the folder argv[3] once from the node at argv[2],
// publishes its log with the key in that folder, and ends. It kills itself at the operation that argv[4] names, if it
// names one.
const [url = "", folder = "", text = "null"] = process.argv.slice(2);
countStoreStatements();
aimAt(JSON.parse(text) as KillAim | null);

const killableWriter = (writer: IndexWriter["Service"]): IndexWriter["Service"] => ({
  ...writer,
  apply: (changes) => inPhase("apply", writer.apply(changes)),
  build: Effect.map(inPhase("build", writer.build), (build) => ({
    ...build,
    add: (rows) => inPhase("build", build.add(rows)),
    finish: (mark) => inPhase("build", build.finish(mark)),
  })),
});
const killableLog = (log: LogStore["Service"]): LogStore["Service"] => ({
  ...log,
  keepTiles: (tiles) => inPhase("tile", log.keepTiles(tiles)),
  replaceStanding: (before, next) => inPhase("sign", log.replaceStanding(before, next)),
});
const killableSigner = Layer.effect(
  LogSigner,
  Effect.map(LogSigner, (signer) => {
    if (signer === null) throw new Error("there is a key");
    const { key } = signer;
    const telling = ({ publicKey, sign }: SigningKey): SigningKey => ({
      publicKey,
      sign: (message) =>
        inPhase(
          "sign",
          Effect.tap(sign(message), () => {
            operation(() => tellLine(`signs ${Buffer.from(message).toString("base64")}`));
            return Effect.void;
          }),
        ),
    });
    return {
      ...signer,
      key: {
        ...key,
        keys: Effect.map(
          key.keys,
          ([first, ...others]) => [telling(first), ...others.map(telling)] as const,
        ),
        remember: (before: string | null, next: string) =>
          inPhase("sign", key.remember(before, next)),
      },
    };
  }),
).pipe(Layer.provide(logSignerFromFile("log.example", `${folder}/log-key`)));

/** The size of the published checkpoint, 0 without one. */
const publishedSize = Effect.gen(function* () {
  const standing = parseLogStanding((yield* LogStore.use(({ standing }) => standing)) ?? "");
  const parsed = standing?.published ? parseCheckpoint(standing.published) : null;
  return parsed !== null && "value" in parsed ? parsed.value.checkpoint.size : 0;
});

const index = await openIndexOfNode({
  url,
  path: `${folder}/index.sqlite`,
  writer: killableWriter,
  log: killableLog,
});
tellLine("opened");
const synced = await index.sync();
const published = await index.run(
  Effect.gen(function* () {
    const { mark } = yield* IndexReader.use(({ summary }) => summary);
    if (mark === null) return yield* Effect.die(new Error("the sync left no mark"));
    const publisher = yield* makeLogPublisher(null);
    yield* publisher.grown(mark);
    const wait = Effect.gen(function* () {
      while ((yield* publishedSize) < Number(mark.count) + 1) yield* Effect.sleep("1 millis");
    });
    yield* Effect.raceFirst(publisher.run, wait);
  }).pipe(
    Effect.provide(
      Layer.mergeAll(
        killableSigner,
        logIdentity(WORLD_LEDGER.genesisHash, WORLD_LEDGER.deployment),
        Layer.succeed(LedgerNodes, { count: 1, readFromEach: () => Effect.succeed([]) }),
        Layer.succeed(WitnessClient, { addCheckpoint: () => Effect.die("there is no witness") }),
      ),
    ),
  ),
);
tellLine(`counts ${JSON.stringify(operationCounts())}`);
await index.close();
const exits: ReadonlyArray<Exit.Exit<unknown, unknown>> = [synced, published];
for (const exit of exits)
  if (Exit.isFailure(exit)) process.stderr.write(`${Cause.pretty(exit.cause)}\n`);
process.exit(Exit.isSuccess(synced) && Exit.isSuccess(published) ? 0 : 1);
