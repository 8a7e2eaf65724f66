import { type Static, Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { IndexedEvent } from "../../../core/domain/index/settlement-event.ts";
import type { SupportedMint } from "../../../core/domain/supported-mint.ts";
import { eventInLeaf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { leafHash, nodeHash } from "../../../core/log/tree/tree-hash.ts";
import { parseWhole } from "../../../core/log/text-values.ts";
import { inclusionPath } from "../../../core/log/tree/tree-proofs.ts";
import { eventAt } from "../../../core/use-cases/index/index-query.ts";
import { ValidationFailed } from "../../../core/use-cases/request-errors.ts";
import { readLogLeaf } from "../../../core/use-cases/log/serving/read-log.ts";
import { Instance } from "../../../ports/instance.ts";
import { eventRecord, SettlementEvent } from "../index/event-contract.ts";
import { data } from "../openapi/envelopes.ts";
import { SAMPLE } from "../openapi/sample-values.ts";
import { Address, Base64, Count, Hash, judged, nullable, record } from "../openapi/values.ts";
import { endpoint } from "../server/endpoint.ts";

const LogPathNode = record("LogPathNode", "One hash of an inclusion proof.", {
  hash: Hash("The hash of these leaves."),
  from: Count("The first leaf."),
  to: Count("The leaf after the last one."),
});

/** One leaf of the settlement log with what leads from it to the published root. */
const LogLeaf = record("LogLeaf", "One leaf of the settlement log with its inclusion proof.", {
  index: Count("The leaf's index, which is the event's `position`."),
  leaf: Base64("The leaf: 66 bytes of an event; 33 of leaf 0, which names ledger and program."),
  leaf_hash: Hash("SHA-256 of a zero byte and the leaf."),
  escrow_pda: nullable(Address("The escrow that the leaf names."), {
    description: "Null for leaf 0.",
  }),
  event: nullable(SettlementEvent, {
    description: "Null for leaf 0, and for an archived escrow of which nobody has shown the bytes.",
  }),
  path: Type.Array(LogPathNode, {
    description:
      "The inclusion proof (RFC 9162), the leaf's sibling first. One that begins behind the leaf is hashed as the right one.",
  }),
  checkpoint: record("LogHead", "What the proof leads to.", {
    origin: Type.String({ description: "The log's name." }),
    size: Count("Leaves of the published checkpoint."),
    root: Hash("Its root."),
  }),
});

/** A leaf of the log as JSON. */
export type LogLeafRecord = Static<typeof LogLeaf>;

type Proven = Effect.Success<ReturnType<typeof readLogLeaf>>;

const leafRecord = (
  index: number,
  { leaf, proof, origin, checkpoint }: Proven,
  event: IndexedEvent | null,
  mints: ReadonlyArray<SupportedMint>,
): LogLeafRecord => ({
  index,
  leaf: encodeBase64(leaf),
  leaf_hash: hash32FromBytes(leafHash(leaf)),
  escrow_pda: eventInLeaf(leaf)?.escrow ?? null,
  event: event && eventRecord(event, mints),
  path: inclusionPath(index, checkpoint.size).map(({ from, to }, at) => ({
    hash: hash32FromBytes(proof[at] ?? new Uint8Array(32)),
    from,
    to,
  })),
  checkpoint: { origin, size: checkpoint.size, root: hash32FromBytes(checkpoint.root) },
});

/** Leaf 0 of a log of two. */
const example = (): { readonly data: LogLeafRecord } => {
  const leaf = networkLeaf(SAMPLE.genesisHash, SAMPLE.deployment.custodyProgram);
  const sibling = leafHash(new Uint8Array(66).fill(1));
  const root = nodeHash(leafHash(leaf), sibling);
  const checkpoint = { text: "", size: 2, root };
  const origin = "evidence.example.com/log/0123456789abcdef/0";
  return { data: leafRecord(0, { origin, leaf, proof: [sibling], checkpoint }, null, []) };
};

/** `GET /v1/log/leaves/{index}` */
export const logLeafEndpoint = endpoint({
  method: "GET",
  path: "/v1/log/leaves/{index}",
  operationId: "readLogLeaf",
  tag: "Settlement log",
  summary: "A leaf of the log, its event and its inclusion proof",
  description:
    "As JSON what the tiles hold: the leaf, the event that it is of, and the hashes from it to the published root.",
  budget: "reads",
  params: {
    index: Type.String({
      description: "The leaf's index, an event's `position`; 0 is the leaf of the network.",
      ...judged({ pattern: "^(0|[1-9][0-9]{0,15})$" }),
      examples: ["1"],
    }),
  },
  answers: {
    200: {
      description: "The leaf.",
      content: { "application/json": { schema: data(LogLeaf), example } },
    },
  },
  problems: ["not_in_log", "not_logged_yet", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ params }) {
    const index = parseWhole(params.index);
    if (index === undefined) {
      const detail = "must be a number of a leaf, without leading zeros";
      return yield* new ValidationFailed([{ field: "index", detail }]);
    }
    const proven = yield* readLogLeaf(index);
    const event = index === 0 ? null : yield* eventAt(BigInt(index));
    const { supportedMints } = yield* Instance;
    return { json: { data: leafRecord(index, proven, event, supportedMints) } };
  }),
);
