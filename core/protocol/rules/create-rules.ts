import { type Address, ZERO_ADDRESS } from "../../domain/address.ts";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../domain/escrow/escrow.ts";
import type { SettlementFault } from "../../domain/relay/settlement-rule.ts";
import {
  associatedTokenAddress,
  custodyConfigAddress,
  escrowAddress,
  merchantAddress,
} from "../addresses/addresses.ts";
import { CUSTODY_INSTRUCTIONS } from "../generated/custody.ts";
import type { CustodyInstructionCall } from "../instructions/program-call.ts";
import { decodeMerchantAccount } from "../accounts/merchant-account.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../addresses/well-known-addresses.ts";
import { type CustodyCall, isVacant, type LedgerView, wrongAccount } from "./custody-call.ts";

const PLACES = CUSTODY_INSTRUCTIONS.create_escrow.accounts;

const merchantFault = (
  call: CustodyCall,
  { wallet, pda, attestor }: { wallet: Address; pda: Address; attestor: Address },
  view: LedgerView,
): SettlementFault | undefined => {
  if (call.isTouched(pda)) return undefined;
  const unregistered: SettlementFault = {
    rule: "merchant_unregistered",
    detail: `the wallet ${wallet} is not registered as a merchant at ${pda}`,
  };
  const account = view.account(pda);
  if (account === null || isVacant(account)) return unregistered;
  const decoded = decodeMerchantAccount(account, view.deployment);
  if ("fault" in decoded) return unregistered;
  const merchant = decoded.value;
  if (merchant.status !== "Active")
    return {
      rule: "merchant_suspended",
      detail: `the merchant ${wallet} is ${merchant.status} and takes no new escrows`,
    };
  return attestor === ZERO_ADDRESS || attestor === merchant.attestor
    ? undefined
    : {
        rule: "attestor_changed",
        detail: `the merchant's attestor key is ${merchant.attestor}, not ${attestor} as asked for`,
      };
};

/** Why no escrow lives so long: exactly one of both is given, and the end is at most seven days ahead. */
const lifeFault = (
  { ttlSeconds, expiresAt }: CustodyInstructionCall<"create_escrow">["args"],
  { ledgerTime, marginSeconds }: LedgerView,
): SettlementFault | undefined => {
  const wrong = (detail: string): SettlementFault => ({ rule: "ttl_out_of_range", detail });
  if (expiresAt === 0n)
    return ttlSeconds < MIN_TTL_SECONDS || ttlSeconds > MAX_TTL_SECONDS
      ? wrong(
          `the time to live is ${ttlSeconds} s and must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} s`,
        )
      : undefined;
  if (ttlSeconds !== 0)
    return wrong("both a time to live and an end are given; one of them must be 0");
  const ahead = expiresAt - ledgerTime;
  return ahead < BigInt(MIN_TTL_SECONDS) || ahead > BigInt(MAX_TTL_SECONDS) + marginSeconds
    ? wrong(
        `the end is ${ahead} s ahead of the ledger's clock and must be ${MIN_TTL_SECONDS} to ${MAX_TTL_SECONDS} s ahead`,
      )
    : undefined;
};

/** Why a `create_escrow` cannot succeed; see docs/protocol.md, "custody". */
export const createFault = (
  call: CustodyCall,
  { args }: CustodyInstructionCall<"create_escrow">,
  view: LedgerView,
): SettlementFault | undefined => {
  const { deployment } = view;
  const { taskHash, amount, attestor } = args;
  const agentOwner = call.accounts[PLACES.agent_owner.place];
  const wallet = call.accounts[PLACES.merchant_wallet.place];
  const mint = call.accounts[PLACES.mint.place];
  if (agentOwner === undefined || wallet === undefined || mint === undefined) return undefined;
  if (amount === 0n)
    return { rule: "amount_out_of_range", detail: "an escrow's amount must be above 0" };
  const unlived = lifeFault(args, view);
  if (unlived !== undefined) return unlived;
  const escrow = escrowAddress(deployment, agentOwner, taskHash).address;
  const merchantPda = merchantAddress(deployment, wallet).address;
  const misplaced = wrongAccount(call, PLACES, {
    merchant: merchantPda,
    escrow,
    vault: associatedTokenAddress(escrow, mint),
    config: custodyConfigAddress(deployment).address,
    token_program: TOKEN_PROGRAM,
    associated_token_program: ASSOCIATED_TOKEN_PROGRAM,
    system_program: SYSTEM_PROGRAM,
  });
  if (misplaced !== undefined) return misplaced;
  if (call.found(escrow)?.owner === deployment.custodyProgram)
    return {
      rule: "escrow_address_taken",
      detail: `the agent ${agentOwner} has an escrow for the task hash ${taskHash} already, at ${escrow}, perhaps an archived one; use a fresh nonce for a new one`,
    };
  return merchantFault(call, { wallet, pda: merchantPda, attestor }, view);
};
