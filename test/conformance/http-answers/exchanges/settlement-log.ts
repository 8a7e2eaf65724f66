import { type Exchange, get, post, type Scene } from "../exchange.ts";
import { ledgerDown, ledgerSlow, logOf, notFinalYet, storeDown } from "../world/conditions.ts";
import { FULFILLED, PENDING } from "../world/escrows.ts";
import { BROKEN_ESCROW, TOMBSTONE } from "../world/ledger-accounts.ts";
import { STRANGER } from "../world/parties.ts";
import { Effect } from "effect";
import { ADD_CHECKPOINT_EXAMPLE } from "../../../../adapters/http/witness/add-checkpoint.ts";
import {
  CheckpointRefused,
  LogSignatureInvalid,
  LogUnknown,
  type WitnessFailure,
  WitnessNotReady,
} from "../../../../core/use-cases/witness/witness-errors.ts";
import type { Witness, WitnessAnswer } from "../../../../core/use-cases/witness/witness.ts";

type RefusedAnswer = Witness["Service"]["refused"];

const offer = (title: string, body: unknown = ADD_CHECKPOINT_EXAMPLE): Exchange =>
  post("addCheckpoint", title, "/witness/add-checkpoint", body, {
    headers: { "content-type": "text/plain" },
  });

/** What the witness of the usual settings answers: it knows the document's example alone. */
export const witnessExchanges: ReadonlyArray<Exchange> = [
  get("readRefusedCheckpoints", "what the witness refused", "/witness/refused"),
  offer("the document's example"),
  offer("another body", "old 0\n"),
  offer("a body that is not UTF-8", Uint8Array.of(0xff)),
  get("addCheckpoint", "no body", "/witness/add-checkpoint", { method: "POST" }),
  get("addCheckpoint", "a content-length that is too long", "/witness/add-checkpoint", {
    method: "POST",
    headers: { "content-length": "262145" },
  }),
];

const sceneOf = (
  title: string,
  answer: Effect.Effect<WitnessAnswer, WitnessFailure> | null,
): Scene => ({
  name: `a witness: ${title}`,
  options: { witness: { addCheckpoint: answer === null ? null : () => answer } },
  exchanges: [offer(title)],
});

const refusedScene = (title: string, refused: RefusedAnswer): Scene => ({
  name: `refused checkpoints: ${title}`,
  options: { witness: { addCheckpoint: null, refused } },
  exchanges: [get("readRefusedCheckpoints", title, "/witness/refused")],
});

/** Every other answer of a witness. */
export const witnessScenes: ReadonlyArray<Scene> = [
  refusedScene("no witness is configured", null),
  refusedScene(
    "the state cannot be read",
    Effect.fail(new WitnessNotReady({ lack: "state_unavailable", retrySeconds: 10 })),
  ),
  sceneOf("none is configured", null),
  sceneOf("another size was cosigned last", Effect.succeed({ kind: "conflict", size: 20 })),
  sceneOf("an unknown log", Effect.fail(new LogUnknown({ detail: "no log has this origin" }))),
  sceneOf("another key's signature", Effect.fail(new LogSignatureInvalid())),
  sceneOf("a false checkpoint", Effect.fail(new CheckpointRefused({ detail: "it is false" }))),
  ...(
    [
      "node_behind",
      "node_ahead",
      "log_unavailable",
      "state_unavailable",
      "key_unavailable",
    ] as const
  ).map((lack) =>
    sceneOf(lack.replace("_", " "), Effect.fail(new WitnessNotReady({ lack, retrySeconds: 2 }))),
  ),
];

const checkpoint = (title: string, more: Partial<Exchange> = {}) =>
  get("readLogCheckpoint", title, "/log/checkpoint", more);
const leaf = (title: string, index: string, more: Partial<Exchange> = {}) =>
  get("readLogLeaf", title, `/v1/log/leaves/${index}`, more);
const proof = (title: string, address: string, more: Partial<Exchange> = {}) =>
  get("readEscrowProof", title, `/v1/evidence/${address}/proof`, more);

const SEGMENTS = ["", "OfTwoSegments", "OfThreeSegments", "OfFourSegments"] as const;

/** Tiles of paths of one to four segments behind the level, of a log that is large enough or too small. */
const tiles = ["000", "000.p/12", "x001/234.p/12", "x001/x234/067.p/12"].flatMap((path, at) => {
  const operation = `readLogTile${SEGMENTS[at] ?? ""}`;
  return [
    get(operation, "of a large log", `/log/tile/0/${path}`, {
      given: logOf(400_000_000, 1),
      outline: (body) => `(${body.length} characters)`,
    }),
    get(operation, "beyond the log", `/log/tile/4/${path}`),
    get(operation, "without the store", `/log/tile/0/${path}`, { given: storeDown }),
  ];
});

/** Requests to a service that publishes its log. */
export const settlementLogExchanges: ReadonlyArray<Exchange> = [
  checkpoint("of a published log"),
  checkpoint("its own validator", { headers: { "if-none-match": "{etag}" } }),
  checkpoint("without the store", { given: storeDown }),
  get("readLogTile", "a tile that is not full yet", "/log/tile/0/000"),
  get("readLogTileOfTwoSegments", "leaf 0", "/log/tile/entries/000.p/1", {
    outline: (body) => `(${body.length} characters)`,
  }),
  get("readLogTileOfTwoSegments", "a width beyond the log", "/log/tile/0/000.p/255"),
  get("readLogTileOfTwoSegments", "a width in another form", "/log/tile/0/000.p/01"),
  ...tiles,
  leaf("leaf 0", "0"),
  leaf("of an event", "1"),
  leaf("beyond the log", "1000000"),
  leaf("no number", "01"),
  leaf("without the store", "1", { given: storeDown }),
  proof("not logged yet", PENDING.address, { given: logOf(400, 1) }),
  proof("without the store", PENDING.address, { given: storeDown }),
  proof("of a slow ledger", PENDING.address, { given: ledgerSlow }),
  proof("Pending", PENDING.address),
  proof("Fulfilled", FULFILLED.address),
  proof("archived", TOMBSTONE.address),
  proof("confirmed, and not final yet", PENDING.address, { given: notFinalYet(PENDING) }),
  proof("no escrow", STRANGER.address),
  proof("not an escrow", BROKEN_ESCROW.address),
  proof("not an address", "zzz"),
  proof("Fulfilled, without the ledger", FULFILLED.address, { given: ledgerDown }),
  proof("Pending, without the ledger", PENDING.address, { given: ledgerDown }),
  get("search", "a leaf", "/v1/search?q=1"),
  get("search", "a leaf beyond the log", "/v1/search?q=99999"),
  get("readStatus", "with a log", "/v1/status"),
];

/** Requests to a service without a log. */
export const withoutLogExchanges: ReadonlyArray<Exchange> = [
  checkpoint("of no log"),
  leaf("of no log", "1"),
  proof("of no log", FULFILLED.address),
];
