import type { Address } from "../../core/domain/address.ts";
import { decodeBase64, encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { TrustPolicy } from "../../core/domain/evidence/evidence-check.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  ED25519_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import { readInstruction } from "../../core/protocol/instructions/program-call.ts";
import { decodeWireTransaction } from "../../core/protocol/transaction/wire-transaction.ts";
import { addressNamed } from "../address-named.ts";
import { deploymentIn } from "../pay/payment-terms.ts";
import { SettlementError } from "../settlement-error.ts";
import { expectedTransaction } from "../signing/expected-transaction.ts";
import type { HeldTo, PREPARED } from "./output.ts";

/** A settlement as the caller asked for it. */
type Asked = {
  readonly escrow: string;
  readonly action: "release" | "refund" | "cancel" | "archive";
  readonly payer?: string;
  readonly amount?: string;
};

type Told = HeldTo<typeof PREPARED>;

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
