import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { termsOf } from "../../../core/protocol/accounts/escrow-account.ts";
import {
  type AttestationClaim,
  attestationMessage,
  domainOf,
} from "../../../core/protocol/instructions/attestation.ts";
import { type VoucherClaim, voucherMessage } from "../../../core/protocol/instructions/voucher.ts";
import { once } from "../server/once.ts";
import { samplePendingEscrow } from "./sample-ledger.ts";
import { SAMPLE, sampleParties, signAs } from "./sample-values.ts";

const hashOf = (words: string) => hash32FromBytes(sha256(new TextEncoder().encode(words)));

/** A session between the sample's parties, and what was signed for its first delivery. */
export const sampleSession = once(() => {
  const escrow: Escrow = { ...samplePendingEscrow(), sessionKey: sampleParties().session };
  const { deployment, genesisHash, amount, createdAt } = SAMPLE;
  const named = { domain: domainOf({ ...deployment, genesisHash }), terms: termsOf(escrow) };
  const total = amount / 10n;
  const claim: AttestationClaim = {
    ...named,
    proofHash: hashOf("example deliveries"),
    total,
    timestamp: createdAt + 20n,
    deliveries: 1,
    isFinal: false,
  };
  const voucher: VoucherClaim = {
    ...named,
    orders: hashOf("example orders"),
    total,
    count: 1,
    isClosing: false,
  };
  return {
    escrow,
    claim,
    voucher,
    attestationSignature: signAs("attestor", attestationMessage(claim)),
    voucherSignature: signAs("session", voucherMessage(voucher)),
  };
});
