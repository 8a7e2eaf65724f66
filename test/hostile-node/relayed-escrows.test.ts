import { expect, test } from "bun:test";
import { type Context, Effect, Metric } from "effect";
import type { Escrow } from "../../core/domain/escrow/escrow.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { encodeEscrowAccount } from "../../core/protocol/accounts/escrow-account.ts";
import { escrowAddress } from "../../core/protocol/addresses/addresses.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  archiveEscrowInstruction,
  claimRefundInstruction,
  createEscrowInstruction,
} from "../../core/protocol/instructions/custody-instructions.ts";
import { decodeWireTransaction } from "../../core/protocol/transaction/wire-transaction.ts";
import {
  checkSettlement,
  readGround,
  resolveTables,
} from "../../core/use-cases/relay/settlement-precheck.ts";
import { AskAnotherNode } from "../../ports/ledger/ledger.ts";
import { signedBytes } from "../core/use-cases/relay/signed.ts";
import { tombstoneOf } from "../doubles/tombstone.ts";
import { type Wallet, wallet } from "../programs/fixture/wallet.ts";
import { pendingOf, refundedOf, worldEscrow, worldMerchant } from "../simulation/world-escrow.ts";
import { worldOf } from "../simulation/world.ts";
import { behindLiar, type Index, type Lie, of } from "./lying-about.ts";
import { valueOf } from "./one-index.ts";

const { custodyProgram } = LOCAL_DEPLOYMENT;
const ESCROWS = 12;
const [PENDING, FULFILLED] = [4, 5];
const payer = wallet("relay payer");
const agent = wallet("relay agent");

/**
 * What the relay's check of a transaction comes to: the rule that it breaks, the tag of another failure, or `passes`.
 */
const outcomeOf = async (
  { run }: Index,
  instruction: Instruction,
  signers: readonly [Wallet],
  registry: Context.Service.Shape<typeof Metric.MetricRegistry> = new Map(),
) => {
  const decoded = decodeWireTransaction(signedBytes([instruction], signers));
  if ("malformed" in decoded) throw new Error(decoded.malformed);
  const check = Effect.flatMap(resolveTables(decoded.value), (accounts) =>
    Effect.flatMap(readGround(decoded.value, accounts, []), (ground) =>
      checkSettlement(decoded.value, accounts, ground),
    ),
  );
  const counted = Effect.provideService(check, Metric.MetricRegistry, registry);
  const result = valueOf(await run(Effect.result(counted)));
  if (result._tag === "Success") return "passes";
  const { failure } = result;
  return failure._tag === "SettlementCheckFailed" ? failure.rule : failure._tag;
};

const worldEscrowOf = (world: ReturnType<typeof worldOf>, number: number): Escrow => {
  const escrow = world.escrows.get(worldEscrow(number).address);
  if (escrow === undefined) throw new Error("no escrow");
  return escrow;
};

/** Every number of an event is below this. */
const LATER = 1000n;
const sample = worldOf(ESCROWS);
const pending = worldEscrowOf(sample, PENDING);
const fulfilled = worldEscrowOf(sample, FULFILLED);
const refund = claimRefundInstruction(LOCAL_DEPLOYMENT, {
  escrow: pending.address,
  mint: pending.mint,
  agentOwner: pending.agentOwner,
});
const archive = archiveEscrowInstruction(LOCAL_DEPLOYMENT, {
  escrow: fulfilled.address,
  rentPayer: fulfilled.rentPayer,
  lastBytes: encodeEscrowAccount(fulfilled),
});
const showing = (data: Uint8Array): Lie => ({ account: of(custodyProgram, () => data) });
const later = { ...refundedOf(pending), settledSeq: LATER };

const OF_PENDING: ReadonlyArray<readonly [string, Lie]> = [
  ["hides it", { account: () => null }],
  ["shows it as funded only", { account: of(SYSTEM_PROGRAM, () => new Uint8Array()) }],
  ["shows it under another program", { account: of(pending.merchant, (data) => data) }],
  ["shows it too short", { account: of(custodyProgram, (data) => data.slice(1)) }],
  ["shows it settled before the mark", showing(encodeEscrowAccount(refundedOf(pending)))],
  ["shows another escrow's account", showing(encodeEscrowAccount(fulfilled))],
  ["shows other terms", { account: of(custodyProgram, (data) => data.with(112, 1)) }],
  ["shows it archived at a number to come", showing(tombstoneOf(later))],
];

const OF_FULFILLED: ReadonlyArray<readonly [string, Lie]> = [
  ["shows it Pending again", showing(encodeEscrowAccount(pendingOf(fulfilled)))],
  [
    "shows it settled in another way",
    showing(encodeEscrowAccount({ ...refundedOf(fulfilled), released: 0n, attestation: null })),
  ],
  ["shows a tombstone of other bytes", showing(tombstoneOf({ ...fulfilled, settledAt: 9n }))],
  ["hides it", { account: () => null }],
];

const SUBJECTS = [
  { name: "a refund", escrow: pending, instruction: refund, lies: OF_PENDING },
  { name: "an archiving", escrow: fulfilled, instruction: archive, lies: OF_FULFILLED },
];

for (const { name, escrow, instruction, lies } of SUBJECTS) {
  const { address } = escrow;
  test(
    `no lie about an escrow that the index proves refuses or passes ${name}, and the truth passes it`,
    () =>
      behindLiar({ address, world: sample, honest: false }, async ({ index, lie }) => {
        for (const [does, is] of lies) {
          lie(is);
          const said = await outcomeOf(index, instruction, [payer]);
          expect([does, said]).toEqual([does, "LedgerUnavailable"]);
        }
        lie(null);
        expect(await outcomeOf(index, instruction, [payer])).toBe("passes");
      }),
    60_000,
  );

  test(
    `a second, honest node has ${name} passed whatever the first one shows`,
    () =>
      behindLiar({ address, world: sample, honest: true }, async ({ index, lie, toldLies }) => {
        for (const [does, is] of lies) {
          const before = toldLies();
          lie(is);
          expect([does, await outcomeOf(index, instruction, [payer])]).toEqual([does, "passes"]);
          expect([does, toldLies() > before]).toEqual([does, true]);
          await index.run(Effect.flatten(AskAnotherNode));
        }
      }),
    60_000,
  );
}

test("an address is not taken because a node shows an account with numbers that the index knows there", () => {
  const { taskHash, mint, amount } = worldEscrow(400);
  const { address } = escrowAddress(LOCAL_DEPLOYMENT, agent.address, taskHash);
  const create = createEscrowInstruction(LOCAL_DEPLOYMENT, {
    payer: agent.address,
    agentOwner: agent.address,
    merchant: worldMerchant(0).wallet,
    mint,
    taskHash,
    amount,
    ttlSeconds: 3600,
  });
  const world = worldOf(ESCROWS);
  return behindLiar({ address, world, honest: false }, async ({ index, lie }) => {
    for (const data of [encodeEscrowAccount(pending), tombstoneOf(fulfilled), tombstoneOf(later)]) {
      lie(showing(data));
      expect(await outcomeOf(index, create, [agent])).toBe("LedgerUnavailable");
    }
    // A number that is still to come may be true: somebody may just have made this escrow.
    lie(showing(encodeEscrowAccount({ ...pending, createdSeq: LATER })));
    expect(await outcomeOf(index, create, [agent])).toBe("escrow_address_taken");
    lie(null);
    expect(await outcomeOf(index, create, [agent])).toBe("passes");
  });
}, 60_000);

test(
  "each refused answer is counted for its node and the method, and no other answer is",
  () =>
    behindLiar(
      { address: pending.address, world: sample, honest: true },
      async ({ index, lie, urls }) => {
        const registry = new Map();
        const counted = async () => {
          const found = await Effect.runPromise(
            Effect.provideService(Metric.snapshot, Metric.MetricRegistry, registry),
          );
          return found.flatMap(({ id, attributes, state }) =>
            id === "ledger_contradictory_answers" ? [{ attributes, state }] : [],
          );
        };
        expect(await outcomeOf(index, refund, [payer], registry)).toBe("passes");
        expect(await counted()).toEqual([]);
        lie({ account: () => null });
        expect(await outcomeOf(index, refund, [payer], registry)).toBe("passes");
        const attributes = { node: urls.first, method: "getMultipleAccounts" };
        expect(await counted()).toEqual([{ attributes, state: { value: 1 } }]);
      },
    ),
  60_000,
);
