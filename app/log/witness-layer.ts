import { join } from "node:path";
import { Effect, Layer, type Redacted } from "effect";
import { witnessStateFiles } from "../../adapters/files/witness-state.ts";
import { logSourceHttp } from "../../adapters/log-http/log-http.ts";
import type { NamedKey } from "../../adapters/signer/evidence-signer.ts";
import { witnessKeyFromFile } from "../../adapters/signer/log-signer.ts";
import { accountNewsWebSocket } from "../../adapters/solana-rpc/signals/account-news-web-socket.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import { makeWitness, Witness } from "../../core/use-cases/witness/witness.ts";
import type { Ledger } from "../../ports/ledger/ledger.ts";
import { WitnessState, WitnessUnusable } from "../../ports/log/witness-state.ts";
import { readWitnessedLogs } from "../config/witnessed-logs.ts";

/** The settings of a witness. */
export type WitnessSettings = {
  readonly name: string;
  readonly keyFile: string;
  /** The file with a line `VKEY URL` for each log. */
  readonly logsFile: string;
};

/** The folder of a witness's state in the data directory. */
const STATE_FOLDER = "witness";

/** Where a witness keeps its files, and what it follows: its node's WebSocket tells when the programs' log grows. */
type WitnessPlace = {
  readonly dataDir: string;
  readonly deployment: Deployment;
  readonly webSocketUrl: Redacted.Redacted<URL>;
};

/** A witness with its files in `dataDir`. Its key must differ from those of its logs and from `others`. */
export const witnessLayer = (
  { name, keyFile, logsFile }: WitnessSettings,
  { dataDir, deployment, webSocketUrl }: WitnessPlace,
  others: ReadonlyArray<NamedKey>,
): Layer.Layer<Witness, WitnessUnusable, Ledger> =>
  Layer.unwrap(
    Effect.map(readWitnessedLogs(logsFile), (logs) => {
      const keysOfLogs = logs.map(({ key }) => ({
        setting: `${key.name} in WITNESS_LOGS`,
        publicKey: key.publicKey,
      }));
      const folder = join(dataDir, STATE_FOLDER);
      const state = witnessStateFiles(folder).pipe(
        Layer.catch(() =>
          Layer.effect(
            WitnessState,
            Effect.fail(new WitnessUnusable({ source: folder, reason: "it cannot be made" })),
          ),
        ),
      );
      return Layer.effect(Witness, makeWitness({ logs, deployment })).pipe(
        Layer.provide(
          Layer.mergeAll(
            state,
            logSourceHttp,
            accountNewsWebSocket(webSocketUrl),
            witnessKeyFromFile(name, keyFile, [...others, ...keysOfLogs]),
          ),
        ),
      );
    }),
  );

/** No witness: nothing is at its path. */
export const noWitness: Layer.Layer<Witness> = Layer.succeed(Witness, {
  addCheckpoint: null,
  refused: null,
  key: null,
});
