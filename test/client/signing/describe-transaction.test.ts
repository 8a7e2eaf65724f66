import { expect, test } from "bun:test";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import {
  describeTransaction,
  transactionWords,
} from "../../../client/signing/describe-transaction.ts";
import { policyIn } from "../../../client/pinned-policy.ts";
import { encodeBase64 } from "../../../core/domain/encoding/base64.ts";
import { type Instruction, readonly, writable } from "../../../core/domain/ledger/instruction.ts";
import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import { fieldWriter } from "../../../core/protocol/accounts/byte-fields.ts";
import { createAssociatedTokenInstruction } from "../../../core/protocol/accounts/token.ts";
import { escrowAddress } from "../../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import {
  ASSOCIATED_TOKEN_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  registerMerchantInstruction,
  rotateAttestorInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import {
  captureInstruction,
  closeSessionInstruction,
  createEscrowInstruction,
  returnRentInstruction,
} from "../../../core/protocol/instructions/custody-instructions.ts";
import * as token from "../../programs/fixture/token-instructions.ts";
import {
  AGENT,
  ATTESTOR,
  honestTransaction,
  MERCHANT,
  MINT,
  TRUST,
} from "../support/fake-service.ts";

const THIEF = MERCHANT;
const SAVINGS = ATTESTOR;
const TASK = hash32FromBytes(new Uint8Array(32).fill(7));
const SESSION = escrowAddress(LOCAL_DEPLOYMENT, AGENT, TASK).address;
const TERMS = {
  agent_owner: AGENT,
  merchant: MERCHANT,
  mint: MINT,
  amount_stroops: "1000000",
  ttl_seconds: 3600,
  task_intent: "GET https://api.example.com",
  nonce: "order-1",
};

/** What the person is told of a payment with an instruction slipped in beside it. */
const told = (beside: Instruction): string =>
  describeTransaction(encodeBase64(honestTransaction(TERMS, [beside])), {
    policy: policyIn(TRUST),
    isUnpinned: false,
  }).message;

const checked = (number: number, accounts: Instruction["accounts"]): Instruction => ({
  programAddress: TOKEN_PROGRAM,
  accounts,
  data: fieldWriter(10).u8(number).u64(2_500_000n).u8(6).done(),
});
const bare = (programAddress: Instruction["programAddress"], data: Uint8Array): Instruction => ({
  programAddress,
  accounts: [],
  data,
});

const SLIPPED: Readonly<Record<string, readonly [Instruction, string]>> = {
  "a transfer of SOL": [
    transferLamports(AGENT, THIEF, 5_000_000_000n),
    `SEND 5000000000 lamports from ${AGENT} to ${THIEF}`,
  ],
  "a transfer of tokens": [
    token.transferTokens(SAVINGS, THIEF, AGENT, 900_000_000n),
    `MOVE 900000000 base units from the token account ${SAVINGS} to ${THIEF}`,
  ],
  "a checked transfer": [
    checked(12, [writable(SAVINGS), readonly(MINT), writable(THIEF)]),
    `MOVE 2.500000 USDC (mint ${MINT}) from the token account ${SAVINGS} to ${THIEF}`,
  ],
  "a delegate": [
    token.approve(SAVINGS, THIEF, AGENT, 900_000_000n),
    `LET ${THIEF} take up to 900000000 base units from the token account ${SAVINGS}`,
  ],
  "a checked delegate": [
    checked(13, [writable(SAVINGS), readonly(MINT), readonly(THIEF)]),
    `LET ${THIEF} take up to 2.500000 USDC (mint ${MINT}) from the token account ${SAVINGS}`,
  ],
  "another owner": [
    token.setAuthority(SAVINGS, "owner", THIEF, AGENT),
    `GIVE a right over ${SAVINGS} to ${THIEF}`,
  ],
  "the closing of an account": [
    token.closeAccount(SAVINGS, THIEF, AGENT),
    `CLOSE the token account ${SAVINGS}; the SOL that it holds goes to ${THIEF}`,
  ],
  "another attestor": [
    rotateAttestorInstruction(LOCAL_DEPLOYMENT, {
      merchant: AGENT,
      attestor: THIEF,
      revoke: true,
    }),
    `ROTATE ATTESTOR for merchant ${AGENT}, naming ${THIEF}, and REVOKE the present one`,
  ],
  "a registration": [
    registerMerchantInstruction(LOCAL_DEPLOYMENT, {
      payer: AGENT,
      merchant: AGENT,
      attestor: THIEF,
      name: "New Data",
    }),
    `REGISTER MERCHANT for merchant ${AGENT}, naming ${THIEF}`,
  ],
  "the opening of a session": [
    createEscrowInstruction(LOCAL_DEPLOYMENT, {
      payer: AGENT,
      agentOwner: AGENT,
      merchant: MERCHANT,
      mint: MINT,
      taskHash: TASK,
      sessionKey: ATTESTOR,
      amount: 5_000_000n,
      ttlSeconds: 0,
      expiresAt: 1_795_305_600n,
    }),
    `LOCK 5.000000 USDC (mint ${MINT}) of agent ${AGENT} for a SESSION with merchant ${MERCHANT}, which takes what vouchers of the key ${ATTESTOR} allow, in escrow ${SESSION}, refundable from 2026-11-22T00:00:00Z on`,
  ],
  "a capture": [
    captureInstruction(LOCAL_DEPLOYMENT, { escrow: SESSION, mint: MINT, merchant: MERCHANT }),
    `CAPTURE what is attested of the session ${SESSION} for its merchant`,
  ],
  "the end of a session": [
    closeSessionInstruction(LOCAL_DEPLOYMENT, { escrow: SESSION, agentOwner: AGENT }),
    `CLOSE the session ${SESSION}: it ends within 900 s`,
  ],
  "the rent on its way home": [
    returnRentInstruction(LOCAL_DEPLOYMENT, { escrow: SESSION, rentPayer: AGENT }),
    `RETURN the rent of the settled escrow ${SESSION} to its payer ${AGENT}`,
  ],
  "a rare instruction of the Token program": [
    bare(TOKEN_PROGRAM, Uint8Array.of(255)),
    "call the Token program, instruction 255, which can move tokens",
  ],
  "a transfer without an amount": [
    bare(TOKEN_PROGRAM, Uint8Array.of(3)),
    "call the Token program, instruction 3, which can move tokens",
  ],
  "a rare instruction of the System program": [
    bare(SYSTEM_PROGRAM, Uint8Array.of(11, 0, 0, 0)),
    "call the System program, instruction 11, which can move SOL",
  ],
  "a rescue of nested tokens": [
    bare(ASSOCIATED_TOKEN_PROGRAM, Uint8Array.of(2)),
    "call the Associated Token program, instruction 2, which can move tokens",
  ],
  "an account for tokens, and whose it is": [
    createAssociatedTokenInstruction({ payer: AGENT, owner: MERCHANT, mint: MINT }),
    `make a token account of ${MERCHANT} at the payer's cost`,
  ],
};

test.each(Object.entries(SLIPPED))("the person is told of %s", (_, [beside, text]) => {
  const message = told(beside);
  expect(message).toInclude(`It will: ${text}; LOCK 1.000000 USDC`);
});

test.each([
  ["custodyProgram", TOKEN_PROGRAM],
  ["attestorProgram", TOKEN_PROGRAM],
  ["custodyProgram", SYSTEM_PROGRAM],
] as const)(
  "no service hides a move of money by naming as its %s the program %s",
  (name, program) => {
    const moves = [
      transferLamports(AGENT, THIEF, 5_000_000_000n),
      token.transferTokens(SAVINGS, THIEF, AGENT, 900_000_000n),
    ];
    const policy = { ...policyIn(TRUST), [name]: program };
    const { message } = describeTransaction(encodeBase64(honestTransaction(TERMS, moves)), {
      policy,
      isUnpinned: true,
    });
    expect(message).toInclude(
      `It will: SEND 5000000000 lamports from ${AGENT} to ${THIEF}; MOVE 900000000 base units from the token account ${SAVINGS} to ${THIEF}; `,
    );
  },
);

test("whoever signs is told the same words, and no transaction with an instruction that has none", () => {
  const payment = encodeBase64(honestTransaction(TERMS, []));
  expect(transactionWords(payment, TRUST)).toStartWith("LOCK 1.000000 USDC");
  const { custodyProgram } = LOCAL_DEPLOYMENT;
  const unknown = [bare(custodyProgram, new Uint8Array(8).fill(255))];
  expect(() => transactionWords(encodeBase64(honestTransaction(TERMS, unknown)), TRUST)).toThrow(
    "The transaction calls an unknown instruction of the custody program.",
  );
});
