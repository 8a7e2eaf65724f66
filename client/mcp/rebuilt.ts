import type { Address } from "../../core/domain/address.ts";
import { parseAmount } from "../../core/domain/amount.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import { taskHash } from "../../core/domain/escrow/task-hash.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import { proofHash } from "../../core/domain/evidence/proof-template.ts";
import { parseHash32 } from "../../core/domain/hash32.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { parseUnixTime } from "../../core/domain/unix-time.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  ED25519_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  attestationMessage,
  domainOf,
  SINGLE_DELIVERY,
} from "../../core/protocol/instructions/attestation.ts";
import { readInstruction } from "../../core/protocol/instructions/program-call.ts";
import { decodeWireTransaction } from "../../core/protocol/transaction/wire-transaction.ts";
import type { EscrowTerms } from "../merchant/settle/escrow-terms.ts";
import { type DeliveryPayload, payloadFault } from "../pay/delivery.ts";
import { expectedLock } from "../pay/locking-transaction.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { addressNamed } from "../pinned-policy.ts";
import { SettlementError } from "../settlement-error.ts";
import { expectedTransaction } from "../signing/expected-transaction.ts";
import type { HeldTo, PREPARED } from "./output.ts";

/** A claim as the caller made it. */
type Claim = {
  readonly payload?: object;
  readonly proof_hash?: string;
  /** Base units, for a part. */
  readonly amount?: string;
};

/** What the service prepared for it. */
type ToldAttestation = {
  readonly message_base64: string;
  readonly proof_hash: string;
  readonly timestamp: string;
};

/**
 * The proof hash that a claim names, or that of its payload. Undefined when there is neither, when the two differ, and for a payload
 * that can be read in two ways.
 */
const hashOf = ({ payload, proof_hash: given }: Claim) => {
  if (payload === undefined) return given === undefined ? undefined : parseHash32(given);
  const delivered = payload as DeliveryPayload;
  const hash = payloadFault(delivered) === null ? proofHash(delivered) : undefined;
  return given === undefined || given === hash ? hash : undefined;
};

/**
 * The message that an attestor signs for a claim, in base64, built anew. Proof hash and amount are the caller's, ledger and program the
 * policy's; the escrow's terms and the time are the service's, and false ones release nothing. @throws SettlementError
 * `prepared_otherwise` when the service prepared another message
 */
export const rebuiltAttestation = (
  told: ToldAttestation,
  claim: Claim,
  { escrow, terms, amount: whole }: EscrowTerms,
  policy: TrustPolicy,
): string => {
  const hash = hashOf(claim);
  const timestamp = parseUnixTime(told.timestamp);
  const amount = claim.amount === undefined ? null : parseAmount(claim.amount);
  if (hash !== undefined && timestamp !== undefined && amount !== undefined) {
    const rebuilt = attestationMessage({
      domain: domainOf(policy),
      terms,
      proofHash: hash,
      total: amount ?? whole,
      timestamp,
      ...SINGLE_DELIVERY,
    });
    const message = encodeBase64(rebuilt);
    if (message === told.message_base64 && hash === told.proof_hash) return message;
  }
  throw new SettlementError(
    "prepared_otherwise",
    `The service prepared another message than that of this claim about ${escrow}.`,
    "Sign nothing of it, and do not use this service before its operator has explained it.",
  );
};

/** The terms of a payment as the caller gave them. */
type Terms = {
  readonly agent: string;
  readonly merchant: string;
  readonly mint: string;
  /** Base units. */
  readonly amount: string;
  readonly ttl_seconds: number;
  readonly task: string;
  readonly nonce: string;
  readonly payer?: string;
};

type Told = HeldTo<typeof PREPARED>;

/**
 * A payment that the service prepared, built anew from the caller's terms and the programs of `policy`: escrow, bytes and signers follow from them. Only the blockhash, the
 * compute budget, the attestor and the last block height are the service's; the ledger takes no attestor but the merchant's own. @throws SettlementError
 * `prepared_otherwise` for anything else than was asked for
 */
export const rebuiltPayment = (told: Told, terms: Terms, policy: TrustPolicy): Told => {
  const { agent: from, merchant, mint, ttl_seconds: ttlSeconds, task, nonce, payer = from } = terms;
  const amount = parseAmount(terms.amount);
  if (amount === undefined)
    throw new SettlementError(
      "validation_failed",
      "amount must be base units, 1 to 2^64-1.",
      "Correct the call. Nothing was signed or sent.",
    );
  const agent = addressNamed(from, "agent");
  const hash = taskHash(task, nonce);
  const { address: escrow } = escrowAddress(deploymentIn(policy), agent, hash);
  if (told.escrow !== escrow)
    throw new SettlementError(
      "prepared_otherwise",
      `The service prepared the escrow ${told.escrow}, and these terms make ${escrow}.`,
      "Sign nothing of it, and do not use this service before its operator has explained it.",
    );
  const { bytes, signers } = expectedLock(
    told.transaction,
    policy,
    {
      agent,
      merchant: addressNamed(merchant, "merchant"),
      mint: { address: addressNamed(mint, "mint") },
      taskHash: hash,
      amount,
      ttlSeconds,
      attestor: null,
    },
    addressNamed(payer, "payer"),
  );
  return { ...told, escrow, transaction: encodeBase64(bytes), signers: [...signers] };
};

/** A settlement as the caller asked for it. */
type Asked = {
  readonly escrow: string;
  readonly action: "release" | "refund" | "cancel" | "archive";
  readonly payer?: string;
  readonly amount?: string;
};

const callOf = ({ action, amount }: Asked) => {
  switch (action) {
    case "release":
      return amount === undefined ? "release_escrow" : "release_partial";
    case "refund":
      return "claim_refund";
    case "cancel":
      return "cancel_escrow";
    case "archive":
      return "archive_escrow";
  }
};

/** Whether an instruction is a CreateIdempotent of a token account that `call` names, paid for by `payer`. */
const makesPayoutAccount =
  (call: Instruction, payer: Address) =>
  ({ programAddress, accounts: [funder, made], data }: Instruction): boolean =>
    programAddress === ASSOCIATED_TOKEN_PROGRAM &&
    data.length === 1 &&
    data[0] === 1 &&
    funder?.address === payer &&
    call.accounts.some(({ address }) => address === made?.address);

/** Whether these instructions are the one custody call that was asked for, and beside it only what that call needs. */
const isAsked = (
  found: ReadonlyArray<Instruction>,
  asked: Asked,
  { custodyProgram, payer }: { readonly custodyProgram: Address; readonly payer: Address },
): boolean => {
  const name = callOf(asked);
  const [call, ...others] = found.filter(({ programAddress }) => programAddress === custodyProgram);
  const read = call && readInstruction(call, { custodyProgram });
  if (call === undefined || others.length > 0 || read?.name !== name) return false;
  if (read.name === "release_partial" && read.args.amount.toString() !== asked.amount) return false;
  if (read.at("escrow") !== asked.escrow) return false;
  const isNeeded = makesPayoutAccount(call, payer);
  return found.every(
    (each) =>
      each === call ||
      isNeeded(each) ||
      (asked.action === "release" && each.programAddress === ED25519_PROGRAM),
  );
};

/** Who pays the fee of a prepared transaction. */
const payerIn = (base64: string): Address | undefined => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  return "value" in decoded ? decoded.value.feePayer : undefined;
};

/**
 * A settlement that the service prepared, once it is found to do what was asked for and nothing else. It holds one custody call of
 * this action on this escrow. Beside it stand only the attestation, missing payout accounts and the compute budget. The custody
 * program then decides where the money goes. The fee payer is the one that was asked for; where none was, the one that the service
 * named. @throws SettlementError `prepared_otherwise` for anything else
 */
export const checkedSettlement = (told: Told, asked: Asked, policy: TrustPolicy): Told => {
  const { custodyProgram } = deploymentIn(policy);
  const { action, escrow } = asked;
  const refuse = (): never => {
    throw new SettlementError(
      "prepared_otherwise",
      `The service prepared something else than the ${action} of ${escrow} alone.`,
      "Sign nothing of it, and do not use this service before its operator has explained it.",
    );
  };
  const payer =
    asked.payer === undefined ? payerIn(told.transaction) : addressNamed(asked.payer, "payer");
  if (told.escrow !== escrow || payer === undefined) return refuse();
  const { bytes, signers } = expectedTransaction(told.transaction, payer, (found) =>
    isAsked(found, asked, { custodyProgram, payer }) ? found : refuse(),
  );
  return { ...told, transaction: encodeBase64(bytes), signers: [...signers] };
};
