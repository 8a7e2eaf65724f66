import { type Static, Type } from "@sinclair/typebox";
import { MAX_TTL_SECONDS, MIN_TTL_SECONDS } from "../../../../core/domain/escrow/escrow.ts";
import {
  MAX_NONCE_BYTES,
  MAX_TASK_INTENT_BYTES,
} from "../../../../core/domain/escrow/task-hash.ts";
import { formatUnixTime } from "../../../../core/domain/unix-time.ts";
import { formatUsdc } from "../../../../core/domain/amount.ts";
import type { EscrowPreflight } from "../../../../core/use-cases/escrow/prepare/preflight-escrow.ts";
import type { PreparedEscrow as Prepared } from "../../../../core/use-cases/escrow/prepare/prepare-escrow.ts";
import { SETTLEMENT_RULES } from "../../../../core/domain/relay/settlement-rule.ts";
import { STATE_RULES } from "../../../../core/use-cases/request-errors.ts";
import { CLIENT_PACKAGE_PATH } from "../../service/client-package.ts";
import { stateCure } from "../../problems/state-cure.ts";
import { Cost, costRecord, UnsignedTransaction } from "./prepared-call-contract.ts";
import { Instruction, instructionRecord } from "../next-action-contract.ts";
import {
  Address,
  AddressOrNull,
  Hash,
  judged,
  MerchantStatus,
  nullable,
  oneOf,
  OrNull,
  record,
  RequestAddress,
  Slot,
  Stroops,
  Time,
  Usdc,
} from "../../openapi/values.ts";
import { samplePreparedEscrow } from "../../openapi/sample-ledger.ts";
import { SAMPLE, sampleParties } from "../../openapi/sample-values.ts";

/** The body of `POST /v1/escrows/prepare`. Values are judged by the use case, types here. */
export const PrepareEscrowRequest = record("PrepareEscrowRequest", "What is to be escrowed.", {
  agent_owner: RequestAddress("Agent wallet address."),
  merchant: RequestAddress("Merchant wallet address."),
  mint: RequestAddress("Token mint address."),
  amount_stroops: Type.String({
    description: "Base units as a decimal integer, 1 to 2^64-1, without sign or leading zero.",
    ...judged({ pattern: "^[1-9][0-9]{0,19}$" }),
  }),
  ttl_seconds: Type.Integer(judged({ minimum: MIN_TTL_SECONDS, maximum: MAX_TTL_SECONDS })),
  expires_at: OrNull(
    "The end itself, as YYYY-MM-DDThh:mm:ssZ: in the future, and at most ttl_seconds from now. By default ttl_seconds after the creation.",
  ),
  session_key: AddressOrNull(
    "The key that signs a session's vouchers: one escrow for many deliveries. By default a single payment.",
  ),
  task_hash: OrNull("32 bytes as 64 hex digits. It is taken as it is, also beside a task_intent.", {
    pattern: "^[0-9a-fA-F]{64}$",
  }),
  task_intent: OrNull(
    `Text from which task_hash is derived when it is absent, 1 to ${MAX_TASK_INTENT_BYTES} bytes of UTF-8.`,
    { minLength: 1, maxLength: MAX_TASK_INTENT_BYTES },
  ),
  nonce: OrNull(
    `Lets one intent be escrowed more than once, 1 to ${MAX_NONCE_BYTES} bytes of UTF-8.`,
    { minLength: 1, maxLength: MAX_NONCE_BYTES },
  ),
  attestor: Type.Optional(
    RequestAddress(
      "The key that must be the merchant's attestor when the escrow is made; any key when left out. With `preflight` or `transaction` the default is the merchant's present key.",
    ),
  ),
  payer: AddressOrNull(
    "Who pays the fee and the rent, and gets the rent back. By default the agent.",
  ),
});

const Inputs = record("PreparedInputs", "Every input after parsing.", {
  agent_owner: Address("Agent wallet address."),
  merchant: Address("Merchant wallet address."),
  mint: Address("Token mint address."),
  amount_stroops: Stroops("Base units."),
  amount_usdc: Usdc("The same with six decimals."),
  ttl_seconds: Type.Integer({ minimum: MIN_TTL_SECONDS, maximum: MAX_TTL_SECONDS }),
  expires_at: Type.Optional(Time("The end itself, when the request names one.")),
  session_key: Type.Optional(Address("The session's key, when the request names one.")),
  task_hash: Hash("Supplied or derived."),
  task_hash_derived: Type.Boolean({ description: "True when derived from task_intent." }),
  task_intent: nullable(Type.String()),
  task_intent_matches: nullable(Type.Boolean(), {
    description:
      "Whether the supplied task_hash is that of task_intent and nonce. Null unless both were sent.",
  }),
  nonce: nullable(Type.String()),
  nonce_applied: Type.Boolean({ description: "Whether the nonce went into the task hash." }),
  attestor: Type.Optional(
    Address(
      "The key that must be the merchant's attestor, when one was named or found by a preflight.",
    ),
  ),
  payer: Type.Optional(Address("The payer, when the request names one.")),
});

const Preflight = record("EscrowPreflight", "Whether creating the escrow would work now.", {
  ready: Type.Boolean({
    description:
      "True when `blockers` is empty: relay and ledger would accept the signed transaction.",
  }),
  blockers: Type.Array(
    record("PreflightBlocker", "Why relay or ledger would refuse the escrow.", {
      rule: oneOf([...SETTLEMENT_RULES, ...STATE_RULES], "The rule that does not hold."),
      detail: Type.String(),
      cure: Type.String({ description: "What to do." }),
    }),
  ),
  cost: Cost,
  merchant_status: nullable(MerchantStatus, { description: "Null: not registered." }),
  mint_supported: Type.Boolean(),
  agent_balance_stroops: nullable(Stroops("The agent's balance."), {
    description: "Null: the agent has no token account of the mint.",
  }),
  balance_sufficient: Type.Boolean(),
  escrow_address_free: Type.Boolean({
    description: "True when no escrow was ever made for the task, archived ones included.",
  }),
  slot: Slot("The slot that was read."),
});

/** What follows from a prepare request. */
export const PreparedEscrow = Type.Object(
  {
    escrow_pda: Address("Derived escrow address."),
    vault_token_account: Address("Derived vault token account."),
    agent_token_account: Address("The agent's token account."),
    merchant_pda: Address("Derived merchant address."),
    bumps: record("PreparedBumps", "The bumps of the derived addresses.", {
      escrow: Type.Integer({ minimum: 0, maximum: 255 }),
      merchant: Type.Integer({ minimum: 0, maximum: 255 }),
    }),
    inputs: Inputs,
    instruction: Instruction,
    sdk_call: record("SdkCall", "How the client library creates this escrow.", {
      package: Type.String(),
      method: Type.String({ description: "The method of a client that `connect` made." }),
      install: Type.String({
        description:
          "The package's file, for `npm install`: its address under the service's configured public address, or its path where none is configured.",
      }),
      signer: Type.Literal("agent_owner", { description: "The field whose owner must sign." }),
    }),
    preflight: Type.Optional(Preflight),
    transaction: Type.Optional(UnsignedTransaction),
  },
  {
    title: "PreparedEscrow",
    description: "An escrow's deterministic inputs. None of it needs to exist on the ledger.",
    additionalProperties: false,
  },
);
/** A prepared escrow as JSON; `preflight` and `transaction` are there where they were asked for. */
export type PreparedEscrowRecord = Static<typeof PreparedEscrow>;
/** What a creation finds on the ledger, as JSON: whether it would succeed, and what is in its way. */
export type PreflightRecord = Static<typeof Preflight>;

/**
 * A prepared escrow as JSON. `publicUrl` is the configured address: a Host header must not say where software comes
 * from.
 */
export const preparedEscrowRecord = (
  prepared: Prepared,
  publicUrl: string | null,
): PreparedEscrowRecord => ({
  escrow_pda: prepared.escrow,
  vault_token_account: prepared.vaultTokenAccount,
  agent_token_account: prepared.agentTokenAccount,
  merchant_pda: prepared.merchantAccount,
  bumps: prepared.bumps,
  inputs: {
    agent_owner: prepared.agentOwner,
    merchant: prepared.merchant,
    mint: prepared.mint,
    amount_stroops: prepared.amount.toString(),
    amount_usdc: formatUsdc(prepared.amount),
    ttl_seconds: prepared.ttlSeconds,
    ...(prepared.expiresAt === null ? {} : { expires_at: formatUnixTime(prepared.expiresAt) }),
    ...(prepared.sessionKey === null ? {} : { session_key: prepared.sessionKey }),
    task_hash: prepared.taskHash,
    task_hash_derived: prepared.taskHashDerived,
    task_intent: prepared.taskIntent,
    task_intent_matches: prepared.taskIntentMatches,
    nonce: prepared.nonce,
    nonce_applied: prepared.nonceApplied,
    ...(prepared.attestor === null ? {} : { attestor: prepared.attestor }),
    ...(prepared.payer === null ? {} : { payer: prepared.payer }),
  },
  instruction: instructionRecord(prepared.instruction),
  sdk_call: {
    package: "settlement-evidence",
    method: "pay",
    install: `${publicUrl ?? ""}${CLIENT_PACKAGE_PATH}`,
    signer: "agent_owner",
  },
});

/** A preflight as JSON. */
export const preflightRecord = (preflight: EscrowPreflight): PreflightRecord => ({
  ready: preflight.ready,
  blockers: preflight.blockers.map(({ rule, detail }) => ({ rule, detail, cure: stateCure(rule) })),
  cost: costRecord(preflight.cost),
  merchant_status: preflight.merchantStatus,
  mint_supported: preflight.mintSupported,
  agent_balance_stroops: preflight.agentBalance?.toString() ?? null,
  balance_sufficient: preflight.balanceSufficient,
  escrow_address_free: preflight.escrowAddressFree,
  slot: Number(preflight.slot),
});

/** The body of the example request. */
export const prepareRequestExample = () => {
  const { agent, merchant, mint } = sampleParties();
  return {
    agent_owner: agent,
    merchant,
    mint,
    amount_stroops: SAMPLE.amount.toString(),
    ttl_seconds: SAMPLE.ttlSeconds,
    task_intent: SAMPLE.intent,
    nonce: SAMPLE.nonce,
  };
};

/** The answer to the example request. */
export const preparedEscrowExample = () => preparedEscrowRecord(samplePreparedEscrow(), null);
