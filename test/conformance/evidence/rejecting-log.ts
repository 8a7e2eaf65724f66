import { type Checkpoint, checkpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import type { Draft } from "./packet-edits.ts";
import { NETWORK } from "../../arbitraries/evidence.ts";
import {
  checkpointNote,
  LOG_KEY,
  leavesWith,
  logLine,
  logPolicyText,
  logProofOf,
  noteKey,
  originOf,
  type ProofChange,
  WITNESSES,
  witnessLine,
} from "./log-world.ts";
import {
  FULFILLED,
  type LogPolicies,
  type LogVector,
  NEXT_KEY,
  onLedger,
  packetWithLog,
  SUCCESSOR,
  withSignatures,
} from "./logged-packets.ts";
import { logFormVectors } from "./rejecting-log-form.ts";

const [, BETA, GAMMA] = WITNESSES;
/** A witness that only sees the log grow. */
const APPEND_ONLY = noteKey("delta.example/w", "cosignature", 44);
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

/** Packets with a log's proof that no verifier may accept. */
export const rejectingLog = (): ReadonlyArray<LogVector> => [
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
