import { type Checkpoint, checkpointText } from "../../../core/log/checkpoint/checkpoint.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import {
  checkpointNote,
  LOG_KEY,
  logLine,
  logPolicyText,
  logProofOf,
  mlDsaKey,
  type NoteKey,
  noteKey,
  type ProofChange,
  WITNESSES,
} from "./log-world.ts";
import {
  FULFILLED,
  loggedEscrow,
  type LogPolicies,
  type LogVector,
  NEXT_KEY,
  onLedger,
  packetWithLog,
  SUCCESSOR,
  withSignatures,
} from "./logged-packets.ts";

const [ALPHA, BETA, GAMMA] = WITNESSES;
/** Two groups, of which one has two witnesses that count as one. */
const GROUP_IN_GROUP = logPolicyText(
  "quorum all-of",
  "group one any alpha beta\ngroup all-of all one gamma",
);
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

/** Packets with a log's proof that verify, whether or not the account is witnessed by it. */
export const acceptingLog = (): ReadonlyArray<LogVector> => [
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
