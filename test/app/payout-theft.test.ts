import { afterAll, beforeAll, expect, test } from "bun:test";
import { localFaucet } from "../../app/demo/local-funds.ts";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import {
  computeUnitLimit,
  createAccount,
  transferLamports,
} from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_USDC_MINT } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { Hash32 } from "../../core/domain/hash32.ts";
import type { Address } from "../../core/domain/address.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { associatedTokenAddress, escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";
import { TOKEN_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import * as s from "../programs/fixture/settlement.ts";
import { rotate } from "../programs/fixture/settlement-attempts.ts";
import { withAccount } from "../programs/fixture/tampering.ts";
import {
  approve,
  initializeAccount,
  revoke,
  setAuthority,
  transferTokens,
} from "../programs/fixture/token-instructions.ts";
import { type Wallet, wallet } from "../programs/fixture/wallet.ts";
import {
  latestBlockhash,
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
  untilReady,
} from "./support/running-service.ts";

// An auditor's attack on the running service. A thief has a right on an account of the payee, and no other signature.

const mint = LOCAL_USDC_MINT;
const AMOUNT = 5_000_000n;
const PART = 2_000_000n;
const { agent, merchant } = s;
const thief = wallet("thief");
const purse = wallet("purse");
const till = wallet("till");
const tokensOf = (owner: Wallet): Address => associatedTokenAddress(owner.address, mint);
const loot = tokensOf(thief);

const escrowFor = (task: number) =>
  escrowAddress(s.deployment, agent.address, s.hashOf(task)).address;
const toRefund = escrowFor(1);
const toRelease = escrowFor(2);
const toDivide = escrowFor(3);

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;

type Answer = {
  readonly status?: number;
  readonly code?: string;
  readonly rule?: string;
  readonly program_error?: { readonly code: number } | null;
};

/** The relay's answer to instructions signed by these wallets only. The first one pays the fee. */
const relay = async (
  instructions: ReadonlyArray<Instruction>,
  [payer, ...signers]: readonly [Wallet, ...ReadonlyArray<Wallet>],
  more: Readonly<Record<string, unknown>> = {},
): Promise<Answer> => {
  const bytes = signedTransaction({
    payer,
    signers,
    instructions,
    blockhash: await latestBlockhash(service.url),
  });
  const response = await fetch(`${service.url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: encodeBase64(bytes), confirm: true, ...more }),
  });
  return { status: response.status, ...((await response.json()) as Answer) };
};
const relayed = async (...call: Parameters<typeof relay>): Promise<void> =>
  expect(await relay(...call)).toMatchObject({ status: 202 });

/** Base units in a token account, read from the ledger. */
const balanceOf = async (account: Address): Promise<string | undefined> => {
  const response = await fetch(service.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "getTokenAccountBalance",
      params: [account],
    }),
  });
  const { result } = (await response.json()) as { result?: { value: { amount: string } } };
  return result?.value.amount;
};
const escrowOf = async (escrow: Address): Promise<EscrowRecord> =>
  ((await (await fetch(`${service.url}/v1/escrows/${escrow}`)).json()) as { data: EscrowRecord })
    .data;
const createdAt = async (escrow: Address): Promise<bigint> =>
  BigInt(Date.parse((await escrowOf(escrow)).created_at) / 1000);
/** The attestor's signature over a part of an escrow, or all of it, by the terms that the service tells. */
const attested = async (escrow: Address, timestamp: bigint, total: bigint) => {
  const response = await fetch(`${service.url}/v1/escrows/${escrow}/attestation/prepare`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ proof_hash: s.PROOF }),
  });
  const { data } = (await response.json()) as {
    readonly data: { readonly [name: string]: Hash32 };
  };
  const { domain = s.DOMAIN, terms = s.TERMS } = data;
  return s.attestInstruction({ domain, terms, timestamp, total });
};

/** A token account beside the owner's associated one. The thief may transfer from it. */
const sharedAccount = (account: Wallet, owner: Wallet): ReadonlyArray<Instruction> => [
  createAccount({
    payer: owner.address,
    account: account.address,
    lamports: 5_000_000n,
    space: 165,
    owner: TOKEN_PROGRAM,
  }),
  initializeAccount(account.address, mint, owner.address),
  approve(account.address, thief.address, owner.address, 2n ** 63n),
];
const create = (task: number, ttlSeconds: number): Instruction =>
  s.createInstruction({ mint, taskHash: s.hashOf(task), amount: AMOUNT, ttlSeconds });

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await runService({ ...quietEnvironment(directory.path), LOCAL_LEDGER_DEMO: "false" });
  await untilReady(service.url);
  const faucet = localFaucet(service.rpcUrl);
  await Promise.all([
    ...[agent, merchant, thief].map(({ address }) => faucet.sol(address, 1)),
    faucet.usdc(agent.address, 25_000_000),
  ]);
  await relayed(
    [
      s.registerInstruction(merchant, s.attestor.address),
      ...sharedAccount(till, merchant),
      createAssociatedTokenInstruction({
        payer: merchant.address,
        owner: thief.address,
        mint,
      }),
    ],
    [merchant, till],
  );
  await relayed([create(1, 1), ...sharedAccount(purse, agent)], [agent, purse]);
  await relayed([create(2, 3600)], [agent]);
  await relayed([create(3, 3600)], [agent]);
}, 60_000);

afterAll(async () => {
  await service.stop();
  await directory.remove();
});

/**
 * The four ways in which a thief can send the same theft to the relay. Unchanged. Without a simulation. After an
 * instruction that writes the payout account, which the check before sending then cannot judge. And with both, so that
 * only the ledger can refuse.
 */
const allWays = async (instructions: ReadonlyArray<Instruction>, payout: Address) => {
  const hidden = transferLamports(thief.address, payout, 0n);
  const ways = [
    [instructions, false],
    [instructions, true],
    [[hidden, ...instructions], false],
    [[hidden, ...instructions], true],
  ] as const;
  const answers = await Promise.all(
    ways.map(([each, skipPreflight], i) =>
      // A different compute limit makes each a different transaction.
      relay([...each, computeUnitLimit(300_000 + i)], [thief], { skip_preflight: skipPreflight }),
    ),
  );
  return answers.map(({ status, code, rule, program_error }) =>
    `${status} ${code ?? "relayed"} ${rule ?? program_error?.code ?? ""}`.trimEnd(),
  );
};

const refused = (rule: string, error: number) => [
  `422 settlement_check_failed ${rule}`,
  `422 settlement_check_failed ${rule}`,
  `422 transaction_rejected ${error}`,
  `422 transaction_rejected ${error}`,
];
const shared = refused("payout_account_shared", 6028);
const misowned = refused("payout_account_wrong_owner", 6017);
const unusable = refused("payout_account_unusable", 6030);
/** An account that is not the associated one is another address, whatever the ledger holds there. */
const misplaced = Array.from(
  { length: 4 },
  () => "422 settlement_check_failed payout_account_not_associated",
);
const take = (from: Wallet, amount: bigint): Instruction =>
  transferTokens(from.address, loot, thief.address, amount);
const parties = { mint };

/** The result of an attack on an escrow: the answers, the loot, and where the escrow's money is. */
const outcome = async (answers: ReadonlyArray<string>, escrow: Address) => ({
  answers,
  stolen: await balanceOf(loot),
  state: (await escrowOf(escrow)).state,
  held: await balanceOf(associatedTokenAddress(escrow, mint)),
});
const nothing = (answers: ReadonlyArray<string>) => ({
  answers,
  stolen: "0",
  state: "Pending" as const,
  held: String(AMOUNT),
});

/** The relay carries a change of owner beside a call of the programs, signed by the owner. */
const giveAway = (owner: Wallet, call: Instruction): Promise<void> =>
  relayed([call, setAuthority(tokensOf(owner), "owner", thief.address, owner.address)], [owner]);

const expired = (): Promise<EscrowRecord> =>
  until(
    "the escrow expires",
    () => escrowOf(toRefund),
    ({ refundable }) => refundable,
  );

test("an old account in the associated one's place brings the delegate nothing", async () => {
  await expired();
  const refund = s.refundInstruction({ ...parties, escrow: toRefund });
  for (const account of [purse.address, loot]) {
    const theft = withAccount(refund, "agent_token_account", account);
    const answers = await allWays([theft, take(purse, AMOUNT)], account);
    expect(await outcome(answers, toRefund)).toEqual(nothing(misplaced));
  }
}, 60_000);

test("a refund to the agent's associated account once it is the thief's is refused, and nobody is told to try it", async () => {
  const { next_actions: before } = await expired();
  expect(before).toMatchObject([{ action: "claim_refund", awaiting: null }]);
  await giveAway(agent, create(4, 3600));

  const misdirected = s.refundInstruction({ ...parties, escrow: toRefund });
  const answers = await allWays([misdirected], tokensOf(agent));
  expect(await outcome(answers, toRefund)).toEqual(nothing(unusable));
  const { next_actions: after } = await escrowOf(toRefund);
  expect(after).toMatchObject([
    { action: "claim_refund", by: "anyone", awaiting: "payout_account", instructions: [] },
  ]);
}, 60_000);

test("a refund whose fallback is the agent's purse brings the delegate nothing", async () => {
  const theft = [
    s.refundInstruction({ ...parties, escrow: toRefund, agentFallbackAccount: purse.address }),
    take(purse, AMOUNT),
  ];
  const answers = await allWays(theft, purse.address);
  expect(await outcome(answers, toRefund)).toEqual(nothing(shared));
}, 60_000);

test("a refund whose fallback is the thief's is refused", async () => {
  const misdirected = s.refundInstruction({
    ...parties,
    escrow: toRefund,
    agentFallbackAccount: loot,
  });
  const answers = await allWays([misdirected], loot);
  expect(await outcome(answers, toRefund)).toEqual(nothing(misowned));
}, 60_000);

test("a release in part with the rest to the agent's purse behind it brings the delegate nothing", async () => {
  const timestamp = await createdAt(toDivide);
  const theft = [
    await attested(toDivide, timestamp, PART),
    s.releaseInstruction({ ...parties, escrow: toDivide }),
    s.refundInstruction({
      ...parties,
      escrow: toDivide,
      agentFallbackAccount: purse.address,
    }),
    take(purse, AMOUNT - PART),
  ];
  // The merchant's own token account does not exist yet, so the settlement creates it.
  const made = createAssociatedTokenInstruction({
    payer: thief.address,
    owner: merchant.address,
    mint,
  });
  const answers = await allWays([made, ...theft], purse.address);
  // The release before it writes the escrow, so only the ledger can judge the refund.
  const byLedger = Array.from({ length: 4 }, () => "422 transaction_rejected 6028");
  expect(await outcome(answers, toDivide)).toEqual(nothing(byLedger));
}, 60_000);

test("a release whose fallback is the merchant's till brings the delegate nothing", async () => {
  const made = createAssociatedTokenInstruction({
    payer: merchant.address,
    owner: merchant.address,
    mint,
  });
  await relayed([made, rotate(wallet("another attestor"))], [merchant]);
  await giveAway(merchant, rotate(s.attestor));
  const timestamp = await createdAt(toRelease);
  const theft = [
    await attested(toRelease, timestamp, AMOUNT),
    s.releaseInstruction({
      ...parties,
      escrow: toRelease,
      merchantFallbackAccount: till.address,
    }),
    take(till, AMOUNT),
  ];
  const answers = await allWays(theft, till.address);
  expect(await outcome(answers, toRelease)).toEqual(nothing(shared));
}, 60_000);

test("and the agent gets all of it in an account on which nobody else has a right", async () => {
  const toPurse = { ...parties, escrow: toRefund, agentFallbackAccount: purse.address };
  const rent = s.rentInstruction({ escrow: toRefund });
  const refund = s.refundInstruction(toPurse);
  await relayed([revoke(purse.address, agent.address), refund, rent], [agent]);
  expect(await balanceOf(purse.address)).toBe(String(AMOUNT));
  expect(await balanceOf(loot)).toBe("0");
  expect(await escrowOf(toRefund)).toMatchObject({ state: "Refunded", next_actions: [] });
}, 60_000);
