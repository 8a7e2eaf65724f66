import { type Static, Type } from "@sinclair/typebox";
import { decodeBase58 } from "../../../core/domain/encoding/base58.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { ledgerSignatureFromBytes } from "../../../core/domain/ledger/signature.ts";
import type { TransactionError as DomainTransactionError } from "../../../core/domain/relay/relay-entry.ts";
import {
  type ProgramError as DomainProgramError,
  programErrorOf,
} from "../../../core/protocol/instructions/program-errors.ts";
import type { RelayOutcome as Outcome } from "../../../core/use-cases/relay/read-relay-outcome.ts";
import type { TransactionRejected } from "../../../core/use-cases/relay/relay-errors.ts";
import type { RelayResult as Result } from "../../../core/use-cases/relay/relay-transaction.ts";
import { sampleInstance } from "../openapi/sample-ledger.ts";
import { sampleTransaction } from "../openapi/sample-transaction.ts";
import { SAMPLE, sampleEscrow, sampleParties } from "../openapi/sample-values.ts";
import {
  Address,
  Count,
  judged,
  nullable,
  oneOf,
  record,
  Signature,
  Slot,
} from "../openapi/values.ts";

/** Why a transaction fails on the ledger. */
export const TransactionError = record(
  "TransactionError",
  "Why a transaction fails on the ledger.",
  {
    kind: Type.String({ description: "The runtime's name of the error." }),
    instruction_index: nullable(Type.Integer({ minimum: 0 })),
    instruction_error: nullable(Type.String()),
    custom_code: nullable(
      Type.Integer({ minimum: 0, description: "The program's own error number." }),
    ),
  },
);

/** An error that one of the two programs defines. */
export const ProgramError = record("ProgramError", "What a program's own error number means.", {
  code: Type.Integer({ minimum: 6000, maximum: 6199 }),
  program: oneOf(["custody", "attestor"], "Whose error it is."),
  name: Type.String(),
  message: Type.String(),
});

/** A ledger transaction's error, as problems and relay answers show it. */
const transactionErrorRecord = (
  error: DomainTransactionError,
): Static<typeof TransactionError> => ({
  kind: error.kind,
  instruction_index: error.instructionIndex,
  instruction_error: error.instructionError,
  custom_code: error.customCode,
});

/** What a program's own error number means, null when neither program defines it. */
const programErrorRecord = (
  definition: DomainProgramError | null,
): Static<typeof ProgramError> | null =>
  definition === null
    ? null
    : {
        code: definition.code,
        program: definition.program,
        name: definition.name,
        message: definition.message,
      };

const sentence = (
  error: DomainTransactionError | null,
  definition: DomainProgramError | null,
): string => {
  if (error === null) return "The ledger node refused the transaction.";
  if (error.instructionIndex === null) return `The transaction fails with ${error.kind}.`;
  if (definition !== null)
    return `Instruction ${error.instructionIndex} fails with ${definition.name}: ${definition.message}.`;
  const code = error.customCode === null ? "" : ` ${error.customCode}`;
  return `Instruction ${error.instructionIndex} fails with ${error.instructionError ?? error.kind}${code}.`;
};

/** The problem members for a transaction that the ledger refuses. */
export const rejectionRecord = (rejected: TransactionRejected) => ({
  detail: sentence(rejected.error, rejected.programError),
  extensions: {
    signature: rejected.signature,
    error: rejected.error === null ? null : transactionErrorRecord(rejected.error),
    program_error: programErrorRecord(rejected.programError),
    program: rejected.program,
    logs: rejected.logs,
    ...(rejected.landed === null
      ? {}
      : {
          slot: Number(rejected.landed.slot),
          commitment: rejected.landed.commitment,
          safe_to_sign_again: rejected.landed.commitment === "finalized",
        }),
  },
});

/** Characters of the longest transaction, 1232 bytes (Solana's PACKET_DATA_SIZE), in base64. */
const MAX_BASE64_LENGTH = 1644;

/** The body of `POST /v1/relay`. */
export const RelayRequest = record("RelayRequest", "A fully signed transaction.", {
  signed_transaction: Type.String({
    minLength: 1,
    description: "The serialized, fully signed transaction in base64.",
    contentEncoding: "base64",
    ...judged({ pattern: "^[A-Za-z0-9+/]+={0,2}$", maxLength: MAX_BASE64_LENGTH }),
  }),
  encoding: Type.Optional(Type.Literal("base64", { default: "base64" })),
  confirm: Type.Optional(
    Type.Boolean({
      default: false,
      description: "Wait for a confirmation, up to the policy's limit.",
    }),
  ),
  skip_preflight: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "Send the transaction even when a program fails in the simulation. A transaction that can never run is still refused.",
    }),
  ),
});

/** The state of a relayed transaction so far. */
export const RelayResult = record("RelayResult", "What became of the transaction so far.", {
  signature: Signature("Names the transaction. Sending it again is safe."),
  status: oneOf(
    ["submitted", "confirmed", "finalized"],
    "`submitted` says nothing about the outcome yet.",
  ),
  slot: nullable(Slot("Where it landed."), { description: "Null while only submitted." }),
  fee_payer: Address("Who pays the fee."),
  explorer_url: Type.String({ description: "A page about the transaction." }),
});
/** What became of a relayed transaction when the answer was sent, as JSON. */
type RelayResultRecord = Static<typeof RelayResult>;

/** What became of a transaction, and whether another may be signed in its place. */
export const RelayOutcome = record("RelayOutcome", "What is known of a transaction.", {
  signature: Signature("Names the transaction."),
  status: oneOf(
    ["landed", "pending", "expired"],
    "`landed`: in a block, with or without an error. `expired`: it never landed and never can. `pending`: neither is known yet.",
  ),
  commitment: nullable(
    oneOf(["processed", "confirmed", "finalized"], "The commitment of its block."),
  ),
  slot: nullable(Slot("The slot of its block.")),
  error: nullable(TransactionError, { description: "Why it failed after landing." }),
  program: nullable(Address("The program of the failing instruction, when it is known.")),
  program_error: nullable(ProgramError),
  logs: Type.Array(Type.String(), {
    description: "Log lines of a failure, when the ledger has them.",
  }),
  last_valid_block_height: nullable(
    Count("The last block height at which it can land; null when this relay did not send it."),
  ),
  safe_to_sign_again: Type.Boolean({
    description:
      "True only when signing the payment again cannot pay twice: it expired, or failed at `finalized`. A failure is `confirmed` until history and accounts prove it.",
  }),
  superseded_by: nullable(Signature("The transaction that did what this one would have done."), {
    description: "Null unless it expired and another one did the same.",
  }),
  nodes: nullable(Count("Nodes of the ledger that say so."), {
    description:
      "How many of the configured addresses of nodes say that it failed or expired: two where two are configured. Two addresses may lead to one node. Null when it did neither, and when it is not recorded.",
  }),
  recreatable_escrow: nullable(Address("The one escrow that it creates."), {
    description:
      "The creation of this very escrow, with the same agent and task hash, can be signed again at any time: the ledger makes it once. Another nonce is another escrow. Null: this relay did not send it, or it does something else.",
  }),
  escrows: Type.Array(Address("An escrow."), {
    description:
      "The escrows that it creates or changes; of one that failed or has not landed, would have. Empty for a transaction of others that is not final yet, and where no node shows what is in it.",
  }),
  explorer_url: Type.String({ description: "A page about the transaction." }),
});
/** A relayed transaction's outcome, read later, as JSON. */
type RelayOutcomeRecord = Static<typeof RelayOutcome>;

/** The network a transaction is looked up on. */
type Network = { readonly cluster: string; readonly networkAddress: string };

/** Solana's explorer shows any cluster; it asks a private one from the reader's own browser. */
const explorerUrl = (signature: string, { cluster, networkAddress }: Network): string => {
  const url = new URL(`https://explorer.solana.com/tx/${signature}`);
  if (cluster === "localnet") {
    url.searchParams.set("cluster", "custom");
    url.searchParams.set("customUrl", networkAddress);
  } else if (cluster !== "mainnet-beta") url.searchParams.set("cluster", cluster);
  return url.href;
};

/** What became of a relayed transaction as JSON. */
export const relayResultRecord = (result: Result, network: Network): RelayResultRecord => ({
  signature: result.signature,
  status: result.status,
  slot: result.slot === null ? null : Number(result.slot),
  fee_payer: result.feePayer,
  explorer_url: explorerUrl(result.signature, network),
});

/** What is known of a transaction as JSON. */
export const relayOutcomeRecord = (outcome: Outcome, network: Network): RelayOutcomeRecord => ({
  signature: outcome.signature,
  status: outcome.status,
  commitment: outcome.commitment,
  slot: outcome.slot === null ? null : Number(outcome.slot),
  error: outcome.error === null ? null : transactionErrorRecord(outcome.error),
  program: outcome.program,
  program_error: programErrorRecord(outcome.programError),
  logs: [...outcome.logs],
  last_valid_block_height:
    outcome.lastValidBlockHeight === null ? null : Number(outcome.lastValidBlockHeight),
  safe_to_sign_again: outcome.safeToSignAgain,
  superseded_by: outcome.supersededBy,
  nodes: outcome.nodes,
  recreatable_escrow: outcome.recreatableEscrow,
  escrows: [...outcome.escrows],
  explorer_url: explorerUrl(outcome.signature, network),
});

const SIGNATURE =
  "CbaytbX9sqmpNjZ3SZbAeAd7CuEn6nbyoaJJqKtKzsfHQQzzPZWXpyd7qDRrfX3eVC8PwEfMHgUKznFu9X5ri3f";

/**
 * The signature of the sample transaction. It is written out because every start needs it, and a first signature takes
 * 40 ms.
 */
export const SAMPLE_SIGNATURE = ledgerSignatureFromBytes(
  decodeBase58(SIGNATURE, 64) ?? new Uint8Array(),
);

/** A body with the transaction that creates the example escrow. */
export const relayRequestExample = () => ({
  signed_transaction: encodeBase64(sampleTransaction()),
  confirm: true,
});

/** A relayed transaction that was confirmed. */
export const relayResultExample = () =>
  relayResultRecord(
    {
      signature: SAMPLE_SIGNATURE,
      status: "confirmed",
      slot: SAMPLE.slot,
      feePayer: sampleParties().agent,
    },
    sampleInstance(),
  );

/** A transaction whose failure is final, so that the payment may be signed again. */
export const relayOutcomeExample = () => {
  const instance = sampleInstance();
  const { custodyProgram: program } = instance.deployment;
  const error = {
    kind: "InstructionError",
    instructionIndex: 1,
    instructionError: "Custom",
    customCode: 6025,
  };
  return relayOutcomeRecord(
    {
      signature: SAMPLE_SIGNATURE,
      status: "landed",
      commitment: "finalized",
      slot: SAMPLE.slot,
      error,
      program,
      programError: programErrorOf(error, program, instance.deployment),
      logs: [],
      lastValidBlockHeight: SAMPLE.slot + 150n,
      safeToSignAgain: true,
      supersededBy: null,
      nodes: 2,
      recreatableEscrow: null,
      escrows: [sampleEscrow().address],
    },
    instance,
  );
};
