import { type Checkpoint, checkpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import { parseSignedNote, printSignedNote } from "../../../core/log/notes/signed-note.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { LogProof } from "../../../core/use-cases/log/serving/read-log.ts";
import { attested, NETWORK } from "../../arbitraries/evidence.ts";
import { type Draft, goldenEscrow, invented, type PacketDraft } from "./packet-edits.ts";
import {
  checkpointNote,
  LOG_KEY,
  leavesWith,
  logLine,
  logPolicyText,
  logProofOf,
  mlDsaKey,
  type NoteKey,
  noteKey,
  originOf,
  type ProofChange,
  WITNESSES,
  witnessLine,
} from "./log-world.ts";
import { logFormVectors } from "./rejecting-log-form.ts";

/** The two policies of a log as they stand in a trust document. */
export type LogPolicies = {
  readonly log_on_ledger: string | null;
  readonly log_append_only: string | null;
};

const onLedger = (log_on_ledger: string, log_append_only: string | null = null): LogPolicies => ({
  log_on_ledger,
  log_append_only,
});

/** A packet with a log's proof, and what every verifier must say of it under log-trust.json. */
export type LogVector = {
  readonly name: string;
  readonly why: string;
  readonly packet: string;
  /** Both policies of the log in place of those in log-trust.json; null: those. */
  readonly logs: LogPolicies | null;
  /** Empty for a packet that verifies. */
  readonly failed_checks: ReadonlyArray<string>;
  /** Whether `account_on_ledger` is `witnessed`; null when a check failed. */
  readonly witnessed: boolean | null;
  /** The names of the checks that are unproven; empty when a check failed. */
  readonly unproven: ReadonlyArray<string>;
};

const [ALPHA, BETA, GAMMA] = WITNESSES;
/** Two groups, of which one has two witnesses that count as one. */
const GROUP_IN_GROUP = logPolicyText(
  "quorum all-of",
  "group one any alpha beta\ngroup all-of all one gamma",
);
/** A witness that only sees the log grow. */
const APPEND_ONLY = noteKey("delta.example/w", "cosignature", 44);
/** The key to which that of the vectors' log is rotated: of the same name. */
const NEXT_KEY = noteKey(originOf(NETWORK), "ed25519", 45);
/** The key of the next generation of the vectors' log. */
const SUCCESSOR = noteKey(originOf(NETWORK, 1), "ed25519", 30);

/** An escrow of the vectors whose events have the numbers 130 and 257. */
export const loggedEscrow = (name: string): Escrow => {
  const { escrow } = goldenEscrow(name);
  const settledSeq = escrow.state === "Pending" ? null : 257n;
  return attested({ ...escrow, createdSeq: 130n, settledSeq });
};

/** A packet of an escrow with a proof of a log in it. */
export const packetWithLog = (escrow: Escrow, log: LogProof | Json): string => {
  const packet = JSON.parse(invented(escrow)) as PacketDraft;
  packet.references["log"] = log;
  return JSON.stringify(packet);
};

const FULFILLED = loggedEscrow("fulfilled");
const OPEN = ["account_on_ledger", "attestor_is_the_merchants"];

const accepts = (
  name: string,
  why: string,
  change: ProofChange | null,
  more: Partial<Pick<LogVector, "logs" | "unproven" | "witnessed">> & {
    readonly escrow?: Escrow;
  } = {},
): LogVector => {
  const { escrow = FULFILLED, logs = null, unproven = [], witnessed = true } = more;
  const proof = change === null ? null : logProofOf(escrow, change);
  return {
    name,
    why,
    packet: packetWithLog(escrow, proof),
    logs,
    failed_checks: [],
    witnessed,
    unproven,
  };
};

const rejects = (
  name: string,
  why: string,
  failed: string,
  change: ProofChange,
  logs: LogPolicies | null = null,
): LogVector => ({
  name,
  why,
  packet: packetWithLog(FULFILLED, logProofOf(FULFILLED, change)),
  logs,
  failed_checks: [failed],
  witnessed: null,
  unproven: [],
});

const accepting = (): ReadonlyArray<LogVector> => [
  accepts("settled", "a released escrow, cosigned by two of three witnesses", {}),
  accepts(
    "pending",
    "a Pending escrow: that it was created is witnessed, that it still is Pending is not",
    {},
    { escrow: loggedEscrow("pending"), unproven: ["still_pending"] },
  ),
  accepts(
    "session-open",
    "a session of which something was captured: its leaf is that of the creation, and captures have none",
    {},
    {
      escrow: loggedEscrow("session-open"),
      unproven: ["still_pending", "captured_on_ledger"],
    },
  ),
  ...[
    "partially-fulfilled",
    "refunded",
    "cancelled",
    "session-released",
    "session-cancelled",
    "session-closed",
  ].map((name) => accepts(name, `the escrow ${name}`, {}, { escrow: loggedEscrow(name) })),
  accepts("two-other-witnesses", "cosigned by the second and third", {
    witnesses: [GAMMA, BETA],
  }),
  accepts("three-witnesses", "cosigned by all three", { witnesses: WITNESSES }),
  accepts("last-leaf", "the tree ends with the settlement", { size: 258 }),
  accepts("power-of-two", "a tree of 512 leaves", { size: 512 }),
  accepts("unknown-witness", "a fourth cosignature, of a key that the policy does not know", {
    witnesses: [ALPHA, BETA, noteKey("delta.example/w", "cosignature", 24)],
  }),
  accepts("cosigned-twice", "a witness cosigned at two times", {
    witnesses: [ALPHA, BETA, ALPHA],
  }),
  accepts(
    "single-witness-quorum",
    "the quorum is one witness",
    { witnesses: [GAMMA] },
    { logs: onLedger(logPolicyText("quorum gamma")) },
  ),
  accepts(
    "group-in-group",
    "a quorum of two groups, of which one has two witnesses",
    { witnesses: [BETA, GAMMA] },
    { logs: onLedger(GROUP_IN_GROUP) },
  ),
  accepts(
    "two-logs",
    "the policy lists the log's successor too",
    {},
    {
      logs: onLedger(logPolicyText(undefined, undefined, [SUCCESSOR, LOG_KEY])),
    },
  ),
  accepts(
    "quorum-none",
    "the policy wants no witness: the log alone states its tree",
    {},
    {
      logs: onLedger(logPolicyText("quorum none")),
      witnessed: false,
      unproven: ["witnessed_on_ledger", ...OPEN],
    },
  ),
  accepts(
    "other-log-line-wrong",
    "a line of another log of the policy does not verify: a log's key is known only where its name is the origin",
    {
      note: (note, { origin, size }) =>
        withSignatures(note, (lines) => [
          ...lines,
          logLine(SUCCESSOR, checkpointText({ origin, size, root: new Uint8Array(32) })),
        ]),
    },
    { logs: onLedger(logPolicyText(undefined, undefined, [SUCCESSOR, LOG_KEY])) },
  ),
  accepts("without-proof", "no proof at all", null, {
    witnessed: false,
    unproven: ["log_inclusion", "witnessed_on_ledger", ...OPEN],
  }),
  ...rotatedAndEnded(),
  ...missing(),
  ...appendOnly(),
];

/** A log that two keys sign, or one of them, and the last checkpoint of a log. */
const rotatedAndEnded = (): ReadonlyArray<LogVector> => {
  const note = (text: string, checkpoint: Checkpoint) =>
    withSignatures(text, (lines) => [logLine(NEXT_KEY, checkpointText(checkpoint)), ...lines]);
  const under = (...logs: ReadonlyArray<NoteKey>) => ({
    logs: onLedger(logPolicyText(undefined, undefined, logs)),
  });
  const last = (_: string, checkpoint: Checkpoint) =>
    checkpointNote({ ...checkpoint, isLast: true }, [ALPHA, BETA]);
  return [
    accepts(
      "two-keys",
      "both keys signed, and the policy has both",
      { note },
      under(LOG_KEY, NEXT_KEY),
    ),
    accepts("two-keys-old-known", "both keys signed, and the policy has the old one", { note }),
    accepts(
      "two-keys-new-known",
      "both signed, and the policy has the new one",
      { note },
      under(NEXT_KEY),
    ),
    accepts(
      "old-key-of-two",
      "the old key alone signed, and the policy has both",
      {},
      under(NEXT_KEY, LOG_KEY),
    ),
    accepts(
      "new-key-of-two",
      "the new key alone signed",
      { log: NEXT_KEY },
      under(LOG_KEY, NEXT_KEY),
    ),
    accepts("log-ended", "the last checkpoint of a log that ended, which its fourth line says", {
      note: last,
    }),
  ];
};

/** A cosignature that is missing is no lie: the packet verifies, and the account is unproven. */
const missing = (): ReadonlyArray<LogVector> => {
  const lacks = (name: string, why: string, change: ProofChange, logs: LogPolicies | null = null) =>
    accepts(name, why, change, {
      logs,
      witnessed: false,
      unproven: ["witnessed_on_ledger", ...OPEN],
    });
  const postQuantum = `witness delta ${mlDsaKey("delta.example/w", 24)}\n`;
  return [
    lacks("one-witness", "one of the two that the quorum wants", { witnesses: [ALPHA] }),
    lacks("no-witness", "the log alone signed", { witnesses: [] }),
    lacks("one-witness-twice", "one witness at two times, which counts once", {
      witnesses: [ALPHA, ALPHA],
    }),
    lacks("one-known-witness", "two cosignatures, of which the policy knows one", {
      witnesses: [ALPHA, noteKey("delta.example/w", "cosignature", 24)],
    }),
    lacks("witness-under-other-name", "a known key under another name", {
      witnesses: [ALPHA, noteKey("other.example/w", "cosignature", 22)],
    }),
    lacks(
      "one-operator",
      "two witnesses of one group, and the quorum wants two groups",
      {},
      onLedger(GROUP_IN_GROUP),
    ),
    lacks(
      "ml-dsa-alone",
      "the quorum is a key of ML-DSA-44, which is never counted",
      {},
      onLedger(`${logPolicyText("", "")}${postQuantum}quorum delta\n`),
    ),
    accepts(
      "ml-dsa-beside",
      "a key of ML-DSA-44 beside two that meet the quorum, and a line of it that is passed over",
      {
        note: (note) =>
          withSignatures(note, (lines) => [
            ...lines,
            {
              name: "delta.example/w",
              id: mlDsaKey("delta.example/w", 24).split("+")[1] ?? "",
              signature: new Uint8Array(2428).fill(1),
            },
          ]),
      },
      {
        logs: onLedger(
          `${logPolicyText("", "")}${postQuantum}group q 2 alpha beta delta\nquorum q\n`,
        ),
      },
    ),
  ];
};

/** Witnesses that never look at a ledger cosign an escrow that was invented: none of these is witnessed by them. */
const appendOnly = (): ReadonlyArray<LogVector> => {
  const unwitnessed = (
    name: string,
    why: string,
    logs: LogPolicies,
    unproven: ReadonlyArray<string>,
    change: ProofChange = {},
  ) => accepts(name, why, change, { logs, witnessed: false, unproven: [...unproven, ...OPEN] });
  const OTHERS = [41, 42, 43].map((seed, i) =>
    noteKey(WITNESSES[i]?.key.name ?? "", "cosignature", seed),
  );
  const others = logPolicyText(undefined, undefined, undefined, OTHERS);
  const none = logPolicyText("quorum none", "", undefined, []);
  return [
    unwitnessed(
      "append-only-alone",
      "a quorum of witnesses that only see the log grow, and no policy of others",
      { log_on_ledger: null, log_append_only: logPolicyText() },
      [],
    ),
    unwitnessed(
      "append-only-under-quorum-none",
      "the same, and no witness is wanted that compares with the ledger",
      onLedger(none, logPolicyText()),
      ["witnessed_on_ledger"],
    ),
    unwitnessed(
      "append-only-of-the-same-names",
      "the same, and other keys stand for the ledger under the same words and names",
      onLedger(others, logPolicyText()),
      ["witnessed_on_ledger"],
    ),
    unwitnessed(
      "append-only-and-one-on-ledger",
      "one witness compared with the ledger where two are wanted, and two saw the log grow",
      onLedger(others, logPolicyText()),
      ["witnessed_on_ledger"],
      { witnesses: [ALPHA, BETA, ...OTHERS.slice(0, 1)] },
    ),
    unwitnessed(
      "append-only-quorum-none",
      "neither policy wants a witness",
      onLedger(none, logPolicyText("quorum none", "", undefined, OTHERS)),
      ["witnessed_on_ledger", "witnessed_append_only"],
    ),
    accepts(
      "both-quorums",
      "two witnesses compared with the ledger, and two others saw the log grow",
      { witnesses: [ALPHA, BETA, ...OTHERS.slice(1)] },
      { logs: onLedger(logPolicyText(), others) },
    ),
    accepts(
      "append-only-missing",
      "two witnesses compared with the ledger, and one of two others saw the log grow",
      { witnesses: [ALPHA, BETA, ...OTHERS.slice(2)] },
      { logs: onLedger(logPolicyText(), others), unproven: ["witnessed_append_only"] },
    ),
  ];
};

const otherNetwork = { ...NETWORK, genesisHash: NETWORK.custodyProgram };

const inclusion = (): ReadonlyArray<LogVector> => {
  const failed = "log_inclusion";
  const own = leavesWith(FULFILLED);
  const moved = new Map([...own, [258n, own.get(257n) ?? new Uint8Array()] as const]);
  const other = leavesWith({ ...FULFILLED, amount: 1n, released: 1n });
  const stranger = noteKey(originOf(NETWORK), "ed25519", 31);
  const abroad = noteKey(originOf(otherNetwork), "ed25519", 20);
  const falseLine = (text: string, { origin, size }: Checkpoint) =>
    withSignatures(text, (lines) => [
      ...lines,
      logLine(NEXT_KEY, checkpointText({ origin, size, root: new Uint8Array(32) })),
    ]);
  return [
    rejects(
      "two-keys-one-false",
      "a line of the log's second key does not verify",
      failed,
      { note: falseLine },
      onLedger(logPolicyText(undefined, undefined, [LOG_KEY, NEXT_KEY])),
    ),
    rejects("other-leaf", "the log holds other account bytes", failed, { leaves: other }),
    rejects("creations-leaf", "the proof is of the creation, and the packet is settled", failed, {
      index: 130,
    }),
    rejects("next-index", "the proof is of the leaf behind", failed, { index: 258 }),
    rejects("leaf-at-another-index", "the account's leaf, behind its event's number", failed, {
      index: 258,
      leaves: moved,
    }),
    rejects("path-truncated", "the last hash of the path is missing", failed, {
      path: (path) => path.slice(0, -1),
    }),
    rejects("path-longer", "the last hash of the path stands twice", failed, {
      path: (path) => [...path, ...path.slice(-1)],
    }),
    rejects("path-reversed", "the path from the root down", failed, {
      path: (path) => path.toReversed(),
    }),
    rejects("path-empty", "no path", failed, { path: () => [] }),
    rejects("smaller-tree", "a checkpoint of a tree that ends before the leaf", failed, {
      note: (_, { origin, root }) =>
        checkpointNote({ origin, root, size: 257 }, WITNESSES.slice(0, 2)),
    }),
    rejects("other-root", "another root", failed, {
      note: (_, { origin, size }) =>
        checkpointNote({ origin, root: new Uint8Array(32), size }, WITNESSES.slice(0, 2)),
    }),
    rejects(
      "other-network",
      "a log of another ledger, which the policy lists",
      failed,
      { origin: originOf(otherNetwork), log: abroad },
      onLedger(logPolicyText(undefined, undefined, [abroad])),
    ),
    rejects("unknown-log", "the log's successor, which the policy does not list", failed, {
      origin: originOf(NETWORK, 1),
      log: SUCCESSOR,
    }),
    rejects("unknown-log-key", "another key under the log's name", failed, { log: stranger }),
    rejects("log-did-not-sign", "only the witnesses signed", failed, {
      note: (note) => withSignatures(note, (lines) => lines.slice(1)),
    }),
    rejects("log-signature-wrong", "a log's signature with one bit changed", failed, {
      note: (note) =>
        withSignatures(note, ([first, ...rest]) =>
          first === undefined
            ? []
            : [
                { ...first, signature: first.signature.with(9, (first.signature[9] ?? 0) ^ 1) },
                ...rest,
              ],
        ),
    }),
  ];
};

type Lines = Parameters<typeof printSignedNote>[0]["signatures"];

/** A note with other signature lines. */
const withSignatures = (note: string, change: (lines: Lines) => Lines): string => {
  const parsed = parseSignedNote(note);
  if ("fault" in parsed) throw new Error(parsed.fault);
  const { text, signatures } = parsed.value;
  return printSignedNote({ text, signatures: change(signatures) });
};

const witnesses = (): ReadonlyArray<LogVector> => {
  const failed = "witnessed_on_ledger";
  return [
    rejects(
      "append-only-cosigned-another-checkpoint",
      "the quorum compared with the ledger, and a witness that only sees the log grow cosigned another root",
      "witnessed_append_only",
      {
        note: (note, { origin, size }) =>
          withSignatures(note, (lines) => [
            ...lines,
            witnessLine(APPEND_ONLY, checkpointText({ origin, size, root: new Uint8Array(32) })),
          ]),
      },
      onLedger(logPolicyText(), logPolicyText("quorum alpha", "", undefined, [APPEND_ONLY])),
    ),
    rejects("cosigned-another-checkpoint", "a witness cosigned another root", failed, {
      note: (note, { origin, size }) =>
        withSignatures(note, (lines) => [
          ...lines.slice(0, 2),
          witnessLine(BETA, checkpointText({ origin, size, root: new Uint8Array(32) })),
        ]),
    }),
    rejects(
      "third-cosigned-another-checkpoint",
      "two witnesses cosigned it, and the third cosigned another root: a known key that fails spoils the note",
      failed,
      {
        note: (note, { origin, size }) =>
          withSignatures(note, (lines) => [
            ...lines,
            witnessLine(GAMMA, checkpointText({ origin, size, root: new Uint8Array(32) })),
          ]),
      },
    ),
    rejects(
      "quorum-none-cosigned-another-checkpoint",
      "no witness is wanted, and one of the policy's cosigned another root: a known key that fails spoils the note",
      failed,
      {
        note: (note, { origin, size }) =>
          withSignatures(note, (lines) => [
            ...lines.slice(0, 2),
            witnessLine(BETA, checkpointText({ origin, size, root: new Uint8Array(32) })),
          ]),
      },
      onLedger(logPolicyText("quorum none")),
    ),
    rejects(
      "quorum-none-cosignature-plain",
      "no witness is wanted, and one of the policy's signed without a time",
      failed,
      {
        note: (note) =>
          withSignatures(note, (lines) =>
            lines.map((line, i) =>
              i === 2 ? { ...line, signature: line.signature.slice(8) } : line,
            ),
          ),
      },
      onLedger(logPolicyText("quorum none")),
    ),
    rejects("cosignature-time-changed", "a cosignature with another time than was signed", failed, {
      note: (note) =>
        withSignatures(note, (lines) =>
          lines.map((line, i) =>
            i === 2
              ? { ...line, signature: line.signature.with(7, (line.signature[7] ?? 0) ^ 1) }
              : line,
          ),
        ),
    }),
    rejects("cosignature-time-zero", "a cosignature of the time 0", failed, {
      note: (note) =>
        withSignatures(note, (lines) =>
          lines.map((line, i) =>
            i === 2
              ? { ...line, signature: line.signature.map((byte, at) => (at < 8 ? 0 : byte)) }
              : line,
          ),
        ),
    }),
    rejects(
      "cosignature-plain",
      "a witness signed the text as a log does, without a time",
      failed,
      {
        note: (note) =>
          withSignatures(note, (lines) =>
            lines.map((line, i) =>
              i === 2 ? { ...line, signature: line.signature.slice(8) } : line,
            ),
          ),
      },
    ),
  ];
};

/** Packets with proofs of a log. Those that verify stand first. */
export const logVectors = (): ReadonlyArray<LogVector> => [
  ...accepting(),
  ...inclusion(),
  ...witnesses(),
  ...logFormVectors(logProofOf(FULFILLED)).map(({ name, why, log }): LogVector => ({
    name,
    why,
    packet: packetWithLog(FULFILLED, log as Draft),
    logs: null,
    failed_checks: ["form"],
    witnessed: null,
    unproven: [],
  })),
];
