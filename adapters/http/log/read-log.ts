import { Type } from "@sinclair/typebox";
import { Effect } from "effect";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { checkpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import { printLogOrigin } from "../../../core/log/checkpoint/log-origin.ts";
import { printTlogProof } from "../../../core/log/checkpoint/tlog-proof.ts";
import { networkIdOf, networkLeaf } from "../../../core/log/leaf/event-leaf.ts";
import { printSignedNote } from "../../../core/log/notes/signed-note.ts";
import { printVerifierKey, verifierKey } from "../../../core/log/notes/verifier-key.ts";
import { leafHash, nodeHash } from "../../../core/log/tree/tree-hash.ts";
import {
  readCheckpoint,
  readEscrowProof,
  readLogTile,
} from "../../../core/use-cases/log/serving/read-log.ts";
import { SAMPLE } from "../openapi/sample-values.ts";
import { PathAddress } from "../openapi/values.ts";
import { entityTag, isNotModified } from "../request/accept.ts";
import { endpoint } from "../server/endpoint.ts";

/** A log of leaf 0 and one event, as the document's examples show it. Its signature is made up. */
const sampleLog = () => {
  const leaf = networkLeaf(SAMPLE.genesisHash, SAMPLE.deployment.custodyProgram);
  const origin = printLogOrigin({
    name: "evidence.example.com",
    networkId: networkIdOf(leaf),
    generation: 0,
  });
  const first = leafHash(leaf);
  const root = nodeHash(first, leafHash(new Uint8Array(66).fill(1)));
  const key = verifierKey(origin, "ed25519", new Uint8Array(32).fill(9));
  const checkpoint = printSignedNote({
    text: checkpointText({ origin, size: 2, root }),
    signatures: [{ name: origin, id: key.id, signature: new Uint8Array(64).fill(3) }],
  });
  return {
    origin,
    vkey: printVerifierKey(key),
    size: 2,
    root: encodeBase64(root),
    checkpoint,
    proof: printTlogProof({ index: 1, proof: [first], checkpoint }),
  };
};

/** It changes once a second at most, and a client that compares checkpoints wants a recent one. */
const CHECKPOINT_CACHING = "public, max-age=5";

/** `GET /log/checkpoint` */
export const checkpointEndpoint = endpoint({
  method: "GET",
  path: "/log/checkpoint",
  operationId: "readLogCheckpoint",
  tag: "Settlement log",
  summary: "The log's newest checkpoint with its witnesses' cosignatures",
  description:
    "A signed note (C2SP tlog-checkpoint): origin, size and root of the tree, the log's signature, then those of the quorum of its witnesses. Offered to them again every ten minutes, so that it can be known to be fresh.",
  budget: "reads",
  answers: {
    200: {
      description: "The checkpoint.",
      content: { "text/plain": { schema: Type.String(), example: () => sampleLog().checkpoint } },
      headers: {
        etag: "Strong validator of the whole body.",
        "cache-control": "For seconds.",
      },
    },
    304: {
      description: "The checkpoint is the one that `If-None-Match` names.",
      content: {},
      headers: { etag: "The checkpoint's validator." },
    },
  },
  problems: ["not_in_log", "store_unavailable"],
}).handle(
  Effect.fnUntraced(function* ({ headers }) {
    const text = yield* readCheckpoint;
    const etag = entityTag(text);
    const own = { etag, "cache-control": CHECKPOINT_CACHING };
    return isNotModified(headers.get("if-none-match"), etag)
      ? { status: 304 as const, text: null, headers: own }
      : { text, headers: own };
  }),
);

/** `GET /v1/evidence/{pda}/proof` */
export const escrowProofEndpoint = endpoint({
  method: "GET",
  path: "/v1/evidence/{pda}/proof",
  operationId: "readEscrowProof",
  tag: "Evidence",
  summary: "The proof that the settlement log holds an escrow's last event",
  description:
    "`c2sp.org/tlog-proof@v1`, without `extra`: the event's number, its inclusion proof and the published checkpoint. Of an escrow that the index has as settled, no node is asked: the signed root proves the event. Any other is read at `finalized`.",
  budget: "reads",
  params: { pda: PathAddress("The escrow address.") },
  answers: {
    200: {
      description: "The proof.",
      content: { "text/plain": { schema: Type.String(), example: () => sampleLog().proof } },
    },
  },
  problems: [
    "invalid_address",
    "escrow_not_found",
    "not_final_yet",
    "not_an_escrow",
    "not_in_log",
    "not_logged_yet",
    "ledger_unavailable",
    "ledger_timeout",
    "store_unavailable",
  ],
}).handle(
  Effect.fnUntraced(function* ({ params }) {
    const text = yield* readEscrowProof(params.pda);
    return { text };
  }),
);

/** A tile of a signed size never changes, full or partial. */
const TILE_CACHING = "public, max-age=31536000, immutable";

const Level = Type.String({
  description: "The level of a tile of hashes, or `entries` for a bundle of leaves.",
  examples: ["0", "entries"],
});
const Part = (examples: Array<string>) =>
  Type.String({
    description:
      "A part of the tile's number: `x` and three digits, or the last three digits, with `.p` where a width follows. Or that width, 1 to 255.",
    examples,
  });
const First = Part(["067"]);
const Second = Part(["234"]);
const Third = Part(["067"]);
const Fourth = Part(["12"]);

const COMMON = {
  method: "GET",
  tag: "Settlement log",
  budget: "reads",
  answers: {
    200: {
      description: "The hashes, 32 bytes each, or the entries, each behind its length as u16 BE.",
      content: {
        "application/octet-stream": { schema: Type.String(), example: () => "" },
      },
      headers: { "cache-control": "For ever: it never changes." },
    },
  },
  problems: ["not_in_log", "store_unavailable"],
} as const;

const answerAt = Effect.fnUntraced(function* (...segments: ReadonlyArray<string>) {
  const bytes = yield* readLogTile(["tile", ...segments].join("/"));
  return { bytes: new Uint8Array(bytes), headers: { "cache-control": TILE_CACHING } };
});

const described = (groups: string) =>
  `A tile of C2SP tlog-tiles, ${groups}. Those of every size that was signed are there. \`.p/<W>\` behind the number asks for the first W of 256.`;

/**
 * `GET /log/tile/<L>/<N>[.p/<W>]`: three operations, because a path parameter of OpenAPI has no slashes. They cover
 * numbers up to 999,999,999.
 */
export const logTileEndpoints = [
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}",
    operationId: "readLogTile",
    summary: "A tile of the log, or a bundle of its entries",
    description: described("with a number below 1000"),
    params: { level: Level, first: First },
  }).handle(({ params: { level, first } }) => answerAt(level, first)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}",
    operationId: "readLogTileOfTwoSegments",
    summary: "A tile whose number has two groups, or a partial one of one",
    description: described("such as `x001/234` or `067.p/12`"),
    params: { level: Level, first: First, second: Second },
  }).handle(({ params: { level, first, second } }) => answerAt(level, first, second)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}/{third}",
    operationId: "readLogTileOfThreeSegments",
    summary: "A tile whose number has three groups, or a partial one of two",
    description: described("such as `x001/x234/067` or `x001/234.p/12`"),
    params: { level: Level, first: First, second: Second, third: Third },
  }).handle(({ params: { level, first, second, third } }) => answerAt(level, first, second, third)),
  endpoint({
    ...COMMON,
    path: "/log/tile/{level}/{first}/{second}/{third}/{fourth}",
    operationId: "readLogTileOfFourSegments",
    summary: "A partial tile whose number has three groups",
    description: described("such as `x001/x234/067.p/12`"),
    params: { level: Level, first: First, second: Second, third: Third, fourth: Fourth },
  }).handle(({ params: { level, first, second, third, fourth } }) =>
    answerAt(level, first, second, third, fourth),
  ),
];
