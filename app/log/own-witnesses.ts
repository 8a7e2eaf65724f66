import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Effect, Redacted, Schedule } from "effect";
import { liveAgainAndAgain, runChild } from "../../adapters/bun/child-process.ts";
import { ed25519PublicKey, parseSeedText } from "../../adapters/signer/ed25519-key.ts";
import { createNewKeyFile, readKeyFile } from "../../adapters/signer/key-file.ts";
import { verifierKey } from "../../core/log/notes/verifier-key.ts";
import type { PolicyWitness } from "../../core/log/policy/log-policy.ts";
import {
  OWN_WITNESS_NAMES,
  withoutWitnesses,
  withWitness,
} from "../../core/log/policy/witness-group.ts";
import { isSameHash } from "../../core/log/tree/tree-hash.ts";
import type { Settings } from "../config/settings.ts";
import { JOINED_KEY_FILE, JOINED_LOGS_FILE } from "./join-log.ts";
import { LogWitnessesUnusable } from "./log-services.ts";
import { changeWitnessFile, readWitnessFile, witnessFile } from "./witness-files.ts";

/** A witness that runs beside the service on the local ledger, in a process of its own. */
type OwnWitness = {
  readonly name: string;
  readonly folder: string;
  readonly publicKey: Uint8Array;
};

/** A service's own witnesses, and the file of the policy that names them. */
export type OwnWitnesses = {
  readonly witnesses: ReadonlyArray<OwnWitness>;
  readonly file: string;
};

/** The folder of their folders in the data directory. */
const FOLDER = "witnesses";
/** They listen where only this machine reaches them. */
const HOST = "127.0.0.1";

const SCRIPT = fileURLToPath(new URL("../commands/witness.ts", import.meta.url));

/** What a witness says whose port another process has. */
const CANNOT_LISTEN = "it cannot listen there";

/**
 * Compiled code takes 5 MB of each and saves little: a witness judges one checkpoint a second at most, in some
 * milliseconds.
 */
const LITTLE_MEMORY = { BUN_JSC_useJIT: "0" };

const refuse = (path: string, reason: string) =>
  new LogWitnessesUnusable({ setting: null, path, reason });

const onFile = <A>(path: string, work: () => Promise<A>) =>
  Effect.tryPromise({
    try: work,
    catch: (cause) => refuse(path, cause instanceof Error ? cause.message : String(cause)),
  });

/** A free port of this machine. Another process may take it before a witness does, which then gets another one. */
const freePort = (): number => {
  const server = Bun.listen({ hostname: HOST, port: 0, socket: { data: () => undefined } });
  server.stop(true);
  return server.port;
};

/** A witness as the policy names it, at a port of this machine. */
const lineOf = ({ name, publicKey }: OwnWitness, port: number): PolicyWitness => ({
  name,
  key: verifierKey(name, "cosignature", publicKey),
  url: `http://${HOST}:${port}/witness`,
});

const lineIn = (
  witnesses: ReadonlyArray<PolicyWitness>,
  { publicKey }: OwnWitness,
): PolicyWitness | undefined => witnesses.find(({ key }) => isSameHash(key.publicKey, publicKey));

const ownWitness = Effect.fnUntraced(function* (dataDir: string, name: string) {
  const folder = join(dataDir, FOLDER, name);
  const path = join(folder, JOINED_KEY_FILE);
  const text = yield* Effect.andThen(createNewKeyFile(path), readKeyFile(path)).pipe(
    Effect.mapError(({ source, reason }) => refuse(source, reason)),
  );
  const seed = parseSeedText(Redacted.value(text));
  if (seed === undefined) return yield* refuse(path, "it holds no key; move it away");
  return { name, folder, publicKey: ed25519PublicKey(seed) } satisfies OwnWitness;
});

/**
 * Makes the keys of the service's own witnesses, and names them in the usual file of its log's policy, at free ports
 * the first time. Where they are turned off they are struck out of it. A policy that was written by hand stays as it
 * is, and those that it names run. None on a remote ledger, and where a setting names the log's witnesses.
 */
export const prepareOwnWitnesses = Effect.fnUntraced(function* (
  { ledger, logWitnesses }: Pick<Settings, "ledger" | "logWitnesses">,
  dataDir: string,
) {
  const file = witnessFile("LOG_WITNESSES", null, dataDir);
  const none: OwnWitnesses = { witnesses: [], file };
  if (ledger.kind !== "embedded" || logWitnesses !== null) return none;
  if (!ledger.witnesses && !existsSync(join(dataDir, FOLDER))) return none;
  const own = yield* Effect.forEach(OWN_WITNESS_NAMES, (name) => ownWitness(dataDir, name));
  yield* onFile(file, () =>
    changeWitnessFile(file, (group) =>
      ledger.witnesses
        ? own.reduce(
            (grown, each) =>
              lineIn(grown?.witnesses ?? [], each) === undefined
                ? withWitness(grown, lineOf(each, freePort()))
                : grown,
            group,
          )
        : group &&
          withoutWitnesses(
            group,
            own.map(({ publicKey }) => publicKey),
          ),
    ),
  );
  if (!ledger.witnesses) return none;
  const named = (yield* onFile(file, () => readWitnessFile(file)))?.witnesses ?? [];
  return { witnesses: own.filter((each) => lineIn(named, each) !== undefined), file };
});

/** The port that the policy names for a witness; it is 0 where it names none. */
const portIn = async (file: string, witness: OwnWitness): Promise<number> => {
  const policy = await readWitnessFile(file);
  return Number(URL.parse(lineIn(policy?.witnesses ?? [], witness)?.url ?? "")?.port ?? 0);
};

/** What own witnesses run beside. */
type Surroundings = {
  /** The address of the service whose log they join. */
  readonly service: string;
  /** The local ledger's address, and that of its WebSocket. */
  readonly rpcUrl: string;
  readonly webSocketUrl: string;
  /** Has the log ask its witnesses at once. */
  readonly offerAgain: Effect.Effect<void>;
  /** The log's verifier keys at this moment, in one text; null while they cannot be read. */
  readonly logKeys: Effect.Effect<string | null>;
};

/** How often the log's keys are looked at: its operator may rotate them. */
const LOOK_AT_KEYS = Schedule.spaced("1 second");

/** Runs a witness until it ends, and says why it did; null once the log has other keys, which the next one learns. */
const live = Effect.fnUntraced(function* (
  witness: OwnWitness,
  file: string,
  { service, rpcUrl, webSocketUrl, logKeys }: Surroundings,
  listening: Effect.Effect<void>,
) {
  const keys = yield* logKeys;
  const port = yield* onFile(file, async () => {
    // It believes its own service about the log's key, at each start anew.
    await rm(join(witness.folder, JOINED_LOGS_FILE), { force: true });
    return portIn(file, witness);
  });
  const options = ["--supervised", "--join", service, "--rpc", rpcUrl, "--ws", webSocketUrl];
  const child = yield* runChild(SCRIPT, options, {
    DATA_DIR: witness.folder,
    WITNESS_NAME: witness.name,
    HOST,
    PORT: String(port),
    LOG_FORMAT: "json",
    ...LITTLE_MEMORY,
  });
  if ((yield* child.firstLine) !== undefined) yield* listening;
  const rotated = Effect.repeat(logKeys, {
    schedule: LOOK_AT_KEYS,
    until: (now) => now !== null && keys !== null && now !== keys,
  });
  const ended = yield* Effect.race(child.ended, Effect.as(rotated, null));
  if (ended === null) return null;
  const { how, said } = ended;
  if (said.includes(CANNOT_LISTEN))
    yield* onFile(file, () =>
      changeWitnessFile(file, (group) => withWitness(group, lineOf(witness, freePort()))),
    );
  return `it ended by ${how}${said === "" ? "" : `: ${said}`}`;
}, Effect.scoped);

/**
 * Runs the service's own witnesses for as long as it runs itself, each anew whenever it ends. When all of them listen
 * for the first time, the log asks them again: it has tried before. None of them outlives this process, however that
 * ends.
 */
export const runOwnWitnesses = (
  { witnesses, file }: OwnWitnesses,
  at: Surroundings,
): Effect.Effect<void> => {
  let silent = witnesses.length;
  const listening = Effect.suspend(() => {
    silent -= 1;
    return silent === 0 ? at.offerAgain : Effect.void;
  });
  return Effect.andThen(
    witnesses.length === 0
      ? Effect.void
      : Effect.logInfo(
          "the log's witnesses are this service's own: they show how witnesses work, and no independence",
          { witnesses: witnesses.map(({ name }) => name) },
        ),
    Effect.forEach(
      witnesses,
      (witness) =>
        liveAgainAndAgain(
          live(witness, file, at, listening).pipe(
            Effect.catch(({ message }) => Effect.succeed(message)),
          ),
          (reason, pauseMs) =>
            Effect.logError("a witness of the service's own is down and restarts", {
              witness: witness.name,
              reason,
              pauseMs,
            }),
        ),
      { concurrency: "unbounded", discard: true },
    ),
  );
};
