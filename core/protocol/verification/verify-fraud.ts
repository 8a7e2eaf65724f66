import type { TrustPolicy } from "../../domain/evidence/evidence-check.ts";
import { type Hash32, hash32FromBytes, hash32ToBytes } from "../../domain/hash32.ts";
import { type Checkpoint, parseCheckpoint } from "../../log/checkpoint/checkpoint.ts";
import { parseLogOrigin } from "../../log/checkpoint/log-origin.ts";
import { networkIdOf } from "../../log/leaf/event-leaf.ts";
import {
  parseVerifierKey,
  printVerifierKey,
  type VerifierKey,
} from "../../log/notes/verifier-key.ts";
import { verifyNote } from "../../log/notes/verify-note.ts";
import { MAX_PROOF_HASHES, parseHash } from "../../log/text-values.ts";
import { rootOf } from "../../log/tree/frontier.ts";
import { isSameHash } from "../../log/tree/tree-hash.ts";
import { verifyConsistency } from "../../log/tree/tree-proofs.ts";
import { decodeCustodyConfigAccount } from "../accounts/settings-accounts.ts";
import { custodyConfigAddress } from "../addresses/addresses.ts";
import {
  addressIn,
  arrayIn,
  bytesIn,
  fail,
  formOf,
  objectIn,
  oneOfIn,
  readStrictDocument,
  textIn,
} from "../evidence/strict-document.ts";
import { trustedLogsOf } from "./trusted-logs.ts";

/** What a file of evidence of fraud says in its first member. */
export const FRAUD_VERSION = "settlement-evidence-fraud-v1";

/** How a log's own signatures convict it; names are stable (docs/verify-evidence.md, "Evidence of a lie"). */
const FRAUD_KINDS = [
  "two_roots",
  "not_the_ledgers_root",
  "not_consistent",
  "after_its_end",
] as const;
export type FraudKind = (typeof FRAUD_KINDS)[number];

/** What the ledger's account showed at a checkpoint's size. */
export type FraudLedger = {
  readonly custody_program: string;
  readonly attestor_program: string;
  /** The bytes of the custody config account. */
  readonly data_base64: string;
};

/** What proves that a larger checkpoint's tree begins with another root than the smaller checkpoint has. */
export type FraudConsistency = {
  /** The root that the larger tree has at the smaller size, base64. */
  readonly root: string;
  /** The consistency proof from there, base64 each. */
  readonly proof: ReadonlyArray<string>;
};

/** A file of evidence of fraud. */
export type FraudFile = {
  readonly version: typeof FRAUD_VERSION;
  readonly kind: FraudKind;
  /** The log's keys that signed the checkpoints, as verifier keys of one name. */
  readonly log_keys: ReadonlyArray<string>;
  /** Signed notes, verbatim: the smaller or last one first. */
  readonly checkpoints: ReadonlyArray<string>;
  /** With `not_the_ledgers_root` alone. */
  readonly ledger: FraudLedger | null;
  /** With `not_consistent` alone. */
  readonly consistency: FraudConsistency | null;
};

/** What a file of evidence of fraud shows. */
export type FraudVerdict = {
  /** Of the same meaning as a packet's. */
  readonly verdict: "verified" | "failed" | "untrusted" | "unsupported_version";
  /** Null unless the file shows a fraud. */
  readonly kind: FraudKind | null;
  /** What it shows, or why it shows nothing. */
  readonly reason: string;
  /** What the file claims and cannot show by itself. */
  readonly unproven: ReadonlyArray<"config_on_ledger">;
};

const WHAT = "the file";
const MAX_BYTES = 1_048_576;
const VERSIONED = /^settlement-evidence-fraud-v[1-9][0-9]*$/;
/** A log has two keys at most at a time. */
const MOST_KEYS = 2;

const parseKey = (text: string): VerifierKey => {
  const key = parseVerifierKey(text);
  if ("fault" in key) return fail(`log_keys: ${key.fault}`);
  return key.value.use === "ed25519" ? key.value : fail("log_keys: a key is not a log's");
};

/** A checkpoint that one of the keys signed. */
const signedIn = (text: string, keys: ReadonlyArray<VerifierKey>): Checkpoint => {
  const parsed = parseCheckpoint(text);
  if ("fault" in parsed) return fail(`a checkpoint: ${parsed.fault}`);
  const { checkpoint, note } = parsed.value;
  const verified = verifyNote(
    note,
    keys.filter(({ name }) => name === checkpoint.origin),
  );
  return "fault" in verified ? fail(`a checkpoint: ${verified.fault}`) : checkpoint;
};

/** Size and root of the ledger's own log, as an account shows them. */
type LedgerHead = { readonly size: number; readonly root: Hash32; readonly networkId: string };

const ledgerHeadOf = (ledger: FraudLedger): LedgerHead => {
  const deployment = {
    custodyProgram: addressIn(ledger.custody_program, "ledger.custody_program"),
    attestorProgram: addressIn(ledger.attestor_program, "ledger.attestor_program"),
  };
  const account = {
    address: custodyConfigAddress(deployment).address,
    owner: deployment.custodyProgram,
    data: bytesIn(ledger.data_base64, "ledger.data_base64"),
  };
  const config = decodeCustodyConfigAccount(account, deployment);
  if ("fault" in config) return fail(`ledger: no custody config account (${config.fault})`);
  const { value } = config;
  if (value.attestorProgram !== deployment.attestorProgram)
    fail("ledger: the account names another attestor program");
  const leaf = Uint8Array.of(0, ...hash32ToBytes(value.domain));
  return { size: Number(value.count) + 1, root: rootOf(value), networkId: networkIdOf(leaf) };
};

const networkIdIn = (origin: string): string | null => {
  const parsed = parseLogOrigin(origin);
  return "value" in parsed ? parsed.value.networkId : null;
};

/** What two checkpoints of one log show by themselves, the smaller or last one first; null for nothing. */
const shownByTwo = (a: Checkpoint, b: Checkpoint): { kind: FraudKind; reason: string } | null => {
  if (a.origin !== b.origin) return null;
  if (a.size === b.size && !isSameHash(a.root, b.root))
    return { kind: "two_roots", reason: `${a.origin} signed two roots of size ${a.size}` };
  if (a.isLast && b.size > a.size)
    return {
      kind: "after_its_end",
      reason: `${a.origin} ended at size ${a.size}, by its last checkpoint, and signed size ${b.size}`,
    };
  return null;
};

const shownByLedger = (a: Checkpoint, head: LedgerHead): string | null =>
  networkIdIn(a.origin) === head.networkId &&
  a.size === head.size &&
  hash32FromBytes(a.root) !== head.root
    ? `${a.origin} signed another root of size ${a.size} than the ledger's account holds`
    : null;

const shownByProof = (
  a: Checkpoint,
  b: Checkpoint,
  { root, proof }: FraudConsistency,
): string | null => {
  const at = parseHash(root) ?? fail("consistency.root is not 32 bytes in base64");
  const hashes = proof.map((each) => parseHash(each) ?? fail("consistency.proof has no hash"));
  if (a.origin !== b.origin || a.size >= b.size || isSameHash(at, a.root)) return null;
  return verifyConsistency({ size: a.size, root: at }, b, hashes)
    ? `${a.origin} signed a tree of size ${b.size} that does not begin with the one of size ${a.size} that it signed`
    : null;
};

const readFile = (document: string | Uint8Array): FraudFile => {
  const file = objectIn(readStrictDocument(document, WHAT, MAX_BYTES), WHAT, [
    "version",
    "kind",
    "log_keys",
    "checkpoints",
    "ledger",
    "consistency",
  ]);
  const texts = (member: "log_keys" | "checkpoints"): ReadonlyArray<string> =>
    arrayIn(file[member], member).map((each) => textIn(each, `one of ${member}`));
  const ledger =
    file["ledger"] === null
      ? null
      : objectIn(file["ledger"], "ledger", ["custody_program", "attestor_program", "data_base64"]);
  const consistency =
    file["consistency"] === null
      ? null
      : objectIn(file["consistency"], "consistency", ["root", "proof"]);
  const proof = consistency && arrayIn(consistency["proof"], "consistency.proof");
  if (proof !== null && proof.length > MAX_PROOF_HASHES) fail("consistency.proof is too long");
  return {
    version: oneOfIn(file["version"], "version", [FRAUD_VERSION]),
    kind: oneOfIn(file["kind"], "kind", FRAUD_KINDS),
    log_keys: texts("log_keys"),
    checkpoints: texts("checkpoints"),
    ledger: ledger && {
      custody_program: textIn(ledger["custody_program"], "ledger.custody_program"),
      attestor_program: textIn(ledger["attestor_program"], "ledger.attestor_program"),
      data_base64: textIn(ledger["data_base64"], "ledger.data_base64"),
    },
    consistency: consistency && {
      root: textIn(consistency["root"], "consistency.root"),
      proof: (proof ?? []).map((each) => textIn(each, "a hash of consistency.proof")),
    },
  };
};

/** What a file shows, and the keys that it shows it of. @throws WrongForm where it shows nothing. */
const judge = (document: string | Uint8Array) => {
  const { kind, log_keys, checkpoints, ledger, consistency } = readFile(document);
  const keys = log_keys.map(parseKey);
  if (keys.length === 0 || keys.length > MOST_KEYS) fail("log_keys has not one or two keys");
  const signed = checkpoints.map((text) => signedIn(text, keys));
  const [a, b] = signed;
  const isOne = kind === "not_the_ledgers_root";
  if (a === undefined || signed.length !== (isOne ? 1 : 2))
    return fail(`checkpoints has not ${isOne ? "one" : "two"}`);
  if ((ledger !== null) !== isOne) fail("ledger does not fit the kind");
  if ((consistency !== null) !== (kind === "not_consistent"))
    fail("consistency does not fit the kind");
  const byTwo = b === undefined || consistency !== null ? null : shownByTwo(a, b);
  const reason =
    (ledger === null ? null : shownByLedger(a, ledgerHeadOf(ledger))) ??
    (b === undefined || consistency === null ? null : shownByProof(a, b, consistency)) ??
    (byTwo?.kind === kind ? byTwo.reason : null) ??
    fail(`the checkpoints do not show ${kind}`);
  return { kind, reason, keys, ledger };
};

/** Why a trust policy does not believe the file's keys or programs, null when it does. */
const trustFault = (
  keys: ReadonlyArray<VerifierKey>,
  ledger: FraudLedger | null,
  trust: TrustPolicy,
): string | null => {
  const trusted = trustedLogsOf(trust);
  if ("fault" in trusted) return `the trust policy: ${trusted.fault}`;
  const known = new Set(trusted.value?.logs.logs.map(({ key }) => printVerifierKey(key)));
  const stranger = keys.find((key) => !known.has(printVerifierKey(key)));
  if (stranger !== undefined)
    return `the trust policy does not name the key ${stranger.id} of ${stranger.name}`;
  const isOther =
    ledger !== null &&
    (ledger.custody_program !== trust.custodyProgram ||
      ledger.attestor_program !== trust.attestorProgram);
  return isOther ? "the account is of other programs than the trust policy's" : null;
};

/**
 * What a file of evidence of fraud shows of a log, offline: `verified` when the file convicts a log whose key the trust
 * policy names, `untrusted` without a policy. Never throws. See docs/verify-evidence.md, "Evidence of a lie".
 */
export const verifyFraud = (
  document: string | Uint8Array,
  trust: TrustPolicy | null,
): FraudVerdict => {
  const verdict = (name: FraudVerdict["verdict"], reason: string): FraudVerdict => ({
    verdict: name,
    kind: null,
    reason,
    unproven: [],
  });
  const version = formOf(() =>
    textIn(objectIn(readStrictDocument(document, WHAT, MAX_BYTES), WHAT)["version"], "version"),
  );
  if ("value" in version && version.value !== FRAUD_VERSION && VERSIONED.test(version.value))
    return verdict("unsupported_version", `the file is ${version.value}`);
  const judged = formOf(() => judge(document));
  if ("fault" in judged) return verdict("failed", judged.fault);
  const { kind, reason, keys, ledger } = judged.value;
  const fault = trust === null ? null : trustFault(keys, ledger, trust);
  if (fault !== null) return verdict("failed", fault);
  const unproven = ledger === null ? [] : (["config_on_ledger"] as const);
  return { verdict: trust === null ? "untrusted" : "verified", kind, reason, unproven };
};
