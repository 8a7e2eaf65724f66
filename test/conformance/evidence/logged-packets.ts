import { parseSignedNote, printSignedNote } from "../../../core/log/notes/signed-note.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import type { LogProof } from "../../../core/use-cases/log/serving/read-log.ts";
import { attested, NETWORK } from "../../arbitraries/evidence.ts";
import { goldenEscrow, invented, type PacketDraft } from "./packet-edits.ts";
import { noteKey, originOf } from "./log-world.ts";

/** The two policies of a log as they stand in a trust document. */
export type LogPolicies = {
  readonly log_on_ledger: string | null;
  readonly log_append_only: string | null;
};

/** The policies of a log whose witnesses compare with a ledger, and of ordinary ones. */
export const onLedger = (
  log_on_ledger: string,
  log_append_only: string | null = null,
): LogPolicies => ({
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

/** The key to which that of the vectors' log is rotated: of the same name. */
export const NEXT_KEY = noteKey(originOf(NETWORK), "ed25519", 45);
/** The key of the next generation of the vectors' log. */
export const SUCCESSOR = noteKey(originOf(NETWORK, 1), "ed25519", 30);

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

/** The escrow of most vectors: released, in full. */
export const FULFILLED = loggedEscrow("fulfilled");

type Lines = Parameters<typeof printSignedNote>[0]["signatures"];

/** A note with other signature lines. */
export const withSignatures = (note: string, change: (lines: Lines) => Lines): string => {
  const parsed = parseSignedNote(note);
  if ("fault" in parsed) throw new Error(parsed.fault);
  const { text, signatures } = parsed.value;
  return printSignedNote({ text, signatures: change(signatures) });
};
