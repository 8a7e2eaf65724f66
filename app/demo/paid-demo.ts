import {
  mintTokens,
  transferLamports,
} from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import type { Address } from "../../core/domain/address.ts";
import type { Deployment } from "../../core/domain/ledger/deployment.ts";
import {
  type Instruction,
  readonlySigner,
  writable,
} from "../../core/domain/ledger/instruction.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { fieldWriter, fieldsOf } from "../../core/protocol/accounts/byte-fields.ts";
import {
  createAssociatedTokenInstruction,
  decodeTokenAccount,
  isClassicMint,
} from "../../core/protocol/accounts/token.ts";
import {
  associatedTokenAddress,
  merchantAddress,
} from "../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import { type DeployContext, landed } from "../deploy/deploy-context.ts";
import { type DeployKey, deployKeyOf } from "../deploy/inputs/deploy-key.ts";
import { requireFunds } from "../deploy/cluster/require-funds.ts";
import { solText } from "../deploy/deploy-cost.ts";
import { failed } from "./expected.ts";
import type { DemoFunds, Parties } from "./local-funds.ts";
import type { Narrator } from "./narrator.ts";
import { DEMO_BASE_UNITS, type DemoResult, runDemo } from "./run-demo.ts";

/**
 * Lamports that each party of the demo begins with, beside what its accounts cost: deposits and fees of two escrows for
 * the agent, of a merchant account and a token account for the merchant, fees for the passer-by. None may fall below
 * the rent of an empty account.
 */
const PARTY_LAMPORTS = {
  agent: 16_000_000n,
  merchant: 10_000_000n,
  passerBy: 3_000_000n,
} as const;

/** Lamports that a payer of the demo must have: those, two token accounts, and fees. */
export const DEMO_LAMPORTS = 34_000_000n;

/** The parties that hold money. */
const HOLDERS = ["agent", "merchant", "passerBy"] as const;

/** SPL Token Transfer: u8 3, amount u64 LE in base units (SPL Token `instruction.rs`). */
const transferTokens = (
  from: Address,
  to: Address,
  owner: Address,
  amount: bigint,
): Instruction => ({
  programAddress: TOKEN_PROGRAM,
  accounts: [writable(from), writable(to), readonlySigner(owner)],
  data: fieldWriter(9).u8(3).u64(amount).done(),
});

/** SPL Token CloseAccount: u8 9. The account's lamports go to `to` (SPL Token `instruction.rs`). */
const closeTokenAccount = (account: Address, to: Address, owner: Address): Instruction => ({
  programAddress: TOKEN_PROGRAM,
  accounts: [writable(account), writable(to), readonlySigner(owner)],
  data: Uint8Array.of(9),
});

/**
 * The parties of a payer's n-th demo. Their keys follow from the payer's, so a demo that is killed loses nothing: the
 * next one finds them again. The signature that a seed is the hash of is never shown.
 */
const runOf = (payer: DeployKey, n: number): Parties => {
  const party = (role: string) => {
    const text = `settlement-evidence demo ${n} ${role}: this is no transaction`;
    return deployKeyOf(sha256(payer.sign(new TextEncoder().encode(text))));
  };
  return {
    agent: party("agent"),
    merchant: party("merchant"),
    attestor: party("attestor"),
    passerBy: party("passer-by"),
  };
};

/**
 * Lends a payer's lamports and tokens of a mint to the parties of the demo. The payer mints the tokens where it is the
 * mint's authority, else it must hold them. @throws DeployStopped and SettlementError from each method.
 */
const payerFunds = (context: DeployContext, mint: Address) => {
  const { rpc, payer, say } = context;
  const payerTokens = associatedTokenAddress(payer.address, mint);
  let runs: ReadonlyArray<Parties> = [];

  const must = async (what: string, unsent: Parameters<typeof landed>[2]): Promise<void> => {
    if (!(await landed(context, what, unsent)))
      throw failed(`${what}: the transaction did not land in time.`, "Run the demo again.");
  };

  /** The payer's runs up to the first whose merchant is not registered yet. */
  const runsSoFar = async (deployment: Deployment): Promise<ReadonlyArray<Parties>> => {
    const begun: Array<Parties> = [];
    for (;;) {
      const run = runOf(payer, begun.length);
      begun.push(run);
      const { address } = merchantAddress(deployment, run.merchant.address);
      const [account = null] = await rpc.accounts([address]);
      if (account?.owner !== deployment.attestorProgram) return begun;
    }
  };

  const isMintAuthority = async (): Promise<boolean> => {
    const [account = null] = await rpc.accounts([mint]);
    if (account === null || !isClassicMint(account))
      throw failed(`--mint: ${mint} is no mint on this cluster.`, "Give that of the service.");
    const fields = fieldsOf(account.data);
    return fields.u32(0) === 1 && fields.address(4) === payer.address;
  };

  const giveTokens = async (to: Address): Promise<ReadonlyArray<Instruction>> => {
    const account = associatedTokenAddress(to, mint);
    const amount = DEMO_BASE_UNITS;
    const make = createAssociatedTokenInstruction({ payer: payer.address, owner: to, mint });
    if (await isMintAuthority())
      return [make, mintTokens({ mint, account, authority: payer.address, amount })];
    const [own = null] = await rpc.accounts([payerTokens]);
    const has = (own === null ? undefined : decodeTokenAccount(own))?.amount ?? 0n;
    if (has < amount)
      throw failed(
        `The payer ${payer.address} has ${has} base units of ${mint} and the demo needs ${amount}.`,
        `Send it ${amount - has} more.`,
      );
    return [make, transferTokens(payerTokens, account, payer.address, amount)];
  };

  /** What one party still holds goes to the payer, who pays the fee. */
  const sweep = async (key: DeployKey): Promise<{ lamports: bigint; tokens: bigint }> => {
    const account = associatedTokenAddress(key.address, mint);
    const [wallet = null, held = null] = await rpc.accounts([key.address, account]);
    const tokens = held === null ? undefined : decodeTokenAccount(held);
    const lamports = wallet?.lamports ?? 0n;
    if (lamports === 0n && tokens === undefined) return { lamports: 0n, tokens: 0n };
    const amount = tokens?.amount ?? 0n;
    const own = { payer: payer.address, owner: payer.address, mint };
    await must("returning what is left", {
      signers: [key],
      instructions: [
        ...(amount > 0n
          ? [
              createAssociatedTokenInstruction(own),
              transferTokens(account, payerTokens, key.address, amount),
            ]
          : []),
        ...(tokens === undefined ? [] : [closeTokenAccount(account, payer.address, key.address)]),
        ...(lamports > 0n ? [transferLamports(key.address, payer.address, lamports)] : []),
      ],
    });
    return { lamports: lamports + (held?.lamports ?? 0n), tokens: amount };
  };

  const sweepAll = async (some: ReadonlyArray<Parties>) => {
    let lamports = 0n;
    let tokens = 0n;
    for (const run of some)
      for (const role of HOLDERS) {
        const swept = await sweep(run[role]);
        lamports += swept.lamports;
        tokens += swept.tokens;
      }
    return { lamports, tokens };
  };

  return {
    /** Parties with what they need for two escrows. */
    parties: async (deployment: Deployment): Promise<Parties> => {
      runs = await runsSoFar(deployment);
      const left = await sweepAll(runs);
      if (left.lamports > 0n) say(`   → ${left.lamports} lamports of an earlier demo came back`);
      const run = runs.at(-1);
      if (run === undefined) throw new Error("a payer has at least one run");
      await must("funding the demo's parties", {
        instructions: [
          ...HOLDERS.map((role) =>
            transferLamports(payer.address, run[role].address, PARTY_LAMPORTS[role]),
          ),
          ...(await giveTokens(run.agent.address)),
        ],
      });
      say(
        `   → payer ${payer.address} lends them SOL, and ${DEMO_BASE_UNITS} base units of ${mint} to agent ${run.agent.address}`,
      );
      return run;
    },
    /** Returns what the parties of this and of earlier runs still hold, in lamports and base units. */
    giveBack: () => sweepAll(runs),
  };
};

/**
 * The demo at a running service, paid for by a payer, who gets back what is left, also when the demo fails. Without
 * `mint` it pays in the one whose deliveries count at the service. @throws SettlementError and DeployStopped
 */
export const runPaidDemo = async (
  context: DeployContext,
  url: string,
  mint: Address | undefined,
  narrator: Narrator,
): Promise<DemoResult> => {
  const { rpc, payer, say } = context;
  await requireFunds(context, DEMO_LAMPORTS + (await rpc.rentExempt(0)), null);
  const before = await rpc.balance(payer.address);
  const lenders: Array<ReturnType<typeof payerFunds>> = [];
  const funds: DemoFunds = (place) => {
    const lender = payerFunds(context, place.mint);
    lenders.push(lender);
    return lender.parties(place.deployment);
  };
  try {
    return await runDemo(url, narrator, { mint, funds });
  } finally {
    for (const { giveBack } of lenders) {
      const { lamports, tokens } = await giveBack();
      const cost = before - (await rpc.balance(payer.address));
      say(
        `\nThe parties returned ${lamports} lamports and ${tokens} base units. The demo cost ${cost} lamports (${solText(cost)} SOL): fees, and deposits of accounts that stay.`,
      );
    }
  }
};
