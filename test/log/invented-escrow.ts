import { parseSignatures, printSignedNote } from "../../core/log/notes/signed-note.ts";
import { checkpointText } from "../../core/log/checkpoint/checkpoint.ts";
import { printVerifierKey } from "../../core/log/notes/verifier-key.ts";
import { printAddCheckpoint } from "../../core/log/witness/add-checkpoint.ts";
import { parseTrustPolicy } from "../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../core/protocol/verification/verify-evidence.ts";
import { NETWORK } from "../arbitraries/evidence.ts";
import { loggedEscrow, packetWithLog } from "../conformance/evidence/logged-packets.ts";
import {
  checkpointNote,
  LOG_KEY,
  leavesWith,
  logLine,
  logPolicyText,
  logProofOf,
  noteKey,
  originOf,
  treeOf,
} from "../conformance/evidence/log-world.ts";
import { trustDocument } from "../conformance/evidence/policy-vectors.ts";
import type { PublicWitness } from "./public-witnesses.ts";

/** The verifier key of a log that invents escrows. */
export const LYING_LOG = printVerifierKey(LOG_KEY.key);

const ESCROW = loggedEscrow("fulfilled");
const SIZE = 300;

/** What a witness answers to the lying log's first checkpoint. @throws Error unless it cosigns. */
const cosignatureOf = async ({ name, url }: PublicWitness, checkpoint: string) => {
  const answer = await fetch(`${url}/add-checkpoint`, {
    method: "POST",
    body: printAddCheckpoint({ oldSize: 0, proof: [], checkpoint }),
  });
  const text = await answer.text();
  const lines = answer.status === 200 ? parseSignatures(text) : { fault: text };
  if ("fault" in lines) throw new Error(`${name} answered ${answer.status}: ${lines.fault}`);
  return lines.value;
};

/** A policy in which all of some witnesses have to cosign the lying log. */
const policyOf = (witnesses: ReadonlyArray<Omit<PublicWitness, "url">>): string =>
  [
    `log ${LYING_LOG}`,
    ...witnesses.map(({ name, key }) => `witness ${name} ${key}`),
    `group all-of-them all ${witnesses.map(({ name }) => name).join(" ")}`,
    "quorum all-of-them",
    "",
  ].join("\n");

/** The packet of an escrow that no ledger has, in a log that all of these witnesses have cosigned. */
const inventedPacket = async (witnesses: ReadonlyArray<PublicWitness>): Promise<string> => {
  const { root } = treeOf(SIZE, leavesWith(ESCROW));
  const checkpoint = { origin: originOf(NETWORK), size: SIZE, root };
  const offered = checkpointNote(checkpoint, []);
  const cosigned = await Promise.all(witnesses.map((witness) => cosignatureOf(witness, offered)));
  const text = checkpointText(checkpoint);
  const note = printSignedNote({ text, signatures: [logLine(LOG_KEY, text), ...cosigned.flat()] });
  return packetWithLog(ESCROW, logProofOf(ESCROW, { size: SIZE, note: () => note }));
};

/** What a verifier says of the account of a packet under a trust document with these members. */
const judged = (packet: string, members: Readonly<Record<string, unknown>>) => {
  const parsed = parseTrustPolicy(JSON.stringify({ ...trustDocument(), ...members }));
  if ("fault" in parsed) return { refused: parsed.fault };
  const { verdict, checks } = verifyEvidence(packet, parsed.value);
  const outcomeOf = (name: string) =>
    checks.find((check) => check.name === name)?.outcome ?? "absent";
  return {
    verdict,
    account: outcomeOf("account_on_ledger"),
    appendOnly: outcomeOf("witnessed_append_only"),
    onLedger: outcomeOf("witnessed_on_ledger"),
  };
};

/**
 * An escrow is invented, and witnesses that never look at a ledger cosign the log that holds it. What is wrong with the
 * verdicts, in each form in which a verifier may name these witnesses; none where they never prove the account.
 */
export const inventedEscrowFaults = async (
  witnesses: ReadonlyArray<PublicWitness>,
): Promise<ReadonlyArray<unknown>> => {
  const packet = await inventedPacket(witnesses);
  const theirs = policyOf(witnesses);
  const none = `log ${LYING_LOG}\nquorum none\n`;
  const ofTheSameNames = policyOf(
    witnesses.map(({ name, key }, at) => ({
      name,
      key: printVerifierKey(noteKey(key.slice(0, key.indexOf("+")), "cosignature", 61 + at).key),
    })),
  );
  const unproven = { verdict: "verified", account: "unproven", appendOnly: "passed" };
  const forms: ReadonlyArray<readonly [string, Readonly<Record<string, unknown>>, object]> = [
    ["append-only alone", { log_append_only: theirs }, { ...unproven, onLedger: "not_applicable" }],
    [
      "beside a policy that wants no witness",
      { log_on_ledger: none, log_append_only: theirs },
      { ...unproven, onLedger: "unproven" },
    ],
    [
      "beside other witnesses",
      { log_on_ledger: logPolicyText(), log_append_only: theirs },
      { ...unproven, onLedger: "unproven" },
    ],
    [
      "beside other keys of the same names",
      { log_on_ledger: ofTheSameNames, log_append_only: theirs },
      { ...unproven, onLedger: "unproven" },
    ],
    [
      "named by nobody",
      { log_on_ledger: logPolicyText() },
      { ...unproven, appendOnly: "not_applicable", onLedger: "unproven" },
    ],
    [
      "without a log",
      {},
      { ...unproven, appendOnly: "not_applicable", onLedger: "not_applicable" },
    ],
    // Whoever says of them what they do not do is believed: the verifier's own word decides.
    [
      "by a verifier who states that they look at a ledger",
      { log_on_ledger: theirs },
      {
        verdict: "verified",
        account: "witnessed",
        appendOnly: "not_applicable",
        onLedger: "passed",
      },
    ],
  ];
  const faults: Array<unknown> = [];
  for (const [form, members, wanted] of forms) {
    const said = judged(packet, members);
    if (!Bun.deepEquals(said, wanted)) faults.push({ form, said, wanted });
  }
  for (const [form, members] of [
    ["in both policies", { log_on_ledger: theirs, log_append_only: theirs }],
    ["in a document of version 1", { version: 1, log: theirs }],
    ["in a member of version 1", { log: theirs }],
  ] as const) {
    const said = judged(packet, members);
    if (!("refused" in said)) faults.push({ form, said, wanted: "a refused document" });
  }
  return faults;
};
