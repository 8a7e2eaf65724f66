import { type Address, addressToBytes } from "../../../core/domain/address.ts";
import { type Hash32 } from "../../../core/domain/hash32.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { ATTESTOR, type Attesting, type Sent, type Verdict } from "./call.ts";

/** The claim that an attestor must have signed: docs/protocol.md, "Attestation". */
export const messageOf = (claim: {
  readonly escrow: Address;
  readonly proofHash: Hash32;
  readonly timestamp: bigint;
  /** 0 for a full release */
  readonly amount: bigint;
}): Uint8Array => {
  const { escrow, proofHash, timestamp, amount } = claim;
  const writer = fieldWriter(amount === 0n ? 72 : 80)
    .bytes(addressToBytes(escrow))
    .hash(proofHash)
    .i64(timestamp);
  return (amount === 0n ? writer : writer.u64(amount)).done();
};

const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => b[i] === byte);

const faults = (
  { form, key, message }: Attesting,
  attestor: Address,
  needed: Uint8Array,
): ReadonlyArray<number> => {
  if (form !== "plain") return [ATTESTOR.AttestationMalformed];
  return [
    ...(key === attestor ? [] : [ATTESTOR.WrongAttestor]),
    ...(same(message, needed) ? [] : [ATTESTOR.WrongMessage]),
  ];
};

/**
 * The signature of the first instruction before the running one that attests this; without one, the reasons why the
 * last one does not.
 */
export const requireAttestation = (
  verdict: Verdict,
  before: Sent,
  attestor: Address,
  needed: Uint8Array,
): Uint8Array | undefined => {
  const attestings = before.filter((each) => each.kind === "ed25519");
  const found = attestings.find((each) => faults(each, attestor, needed).length === 0);
  if (found !== undefined) return found.signature;
  const last = attestings.at(-1);
  const reasons =
    last === undefined ? [ATTESTOR.AttestationMissing] : faults(last, attestor, needed);
  for (const reason of reasons) verdict.require(false, reason);
  return undefined;
};
