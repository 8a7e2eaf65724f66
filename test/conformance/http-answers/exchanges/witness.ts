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
import { type Exchange, get, post, type Scene } from "../exchange.ts";

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
  ...(["node_behind", "node_ahead", "log_unavailable", "state_unavailable"] as const).map((lack) =>
    sceneOf(lack.replace("_", " "), Effect.fail(new WitnessNotReady({ lack, retrySeconds: 2 }))),
  ),
];
