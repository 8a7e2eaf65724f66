import {
  mintTokens,
  transferLamports,
} from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import {
  type Instruction,
  readonlySigner,
  writable,
} from "../../../core/domain/ledger/instruction.ts";
import { sha256 } from "../../../core/domain/sha256.ts";
import { fieldWriter, fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  createAssociatedTokenInstruction,
  decodeTokenAccount,
  isClassicMint,
} from "../../../core/protocol/accounts/token.ts";
import {
  associatedTokenAddress,
  merchantAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { type DeployContext, landed } from "../../deploy/deploy-context.ts";
import { type DeployKey, deployKeyOf } from "../../deploy/inputs/deploy-keys.ts";
import { DemoFailed } from "../demo-failed.ts";
import { DEMO_BASE_UNITS, type DemoFunds } from "./demo-funds.ts";
import { PARTY_LAMPORTS } from "./demo-lamports.ts";
import { walletOfSeed } from "../wallet.ts";

const ROLES = ["agent", "merchant", "attestor", "passerBy"] as const;
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

type Run = Readonly<
  Record<(typeof ROLES)[number], { readonly seed: Uint8Array; readonly key: DeployKey }>
>;

/**
 * The parties of a payer's n-th demo. Their keys follow from the payer's, so a demo that is killed loses nothing: the next one finds
 * them again. The signature that a seed is the hash of is never shown.
 */
const runOf = (payer: DeployKey, n: number): Run => {
  const party = (role: string) => {
    const text = `settlement-evidence demo ${n} ${role}: this is no transaction`;
    const seed = sha256(payer.sign(new TextEncoder().encode(text)));
    return { seed, key: deployKeyOf(seed) };
  };
  return {
    agent: party("agent"),
    merchant: party("merchant"),
    attestor: party("attestor"),
    passerBy: party("passer-by"),
  };
};

/** Money of the demo's payer on any cluster, and its way back. */
export type PayerFunds = DemoFunds & {
  /** Returns what the parties of this and of earlier runs still hold, in lamports and base units. */
  readonly giveBack: () => Promise<{ readonly lamports: bigint; readonly tokens: bigint }>;
};

/**
 * Lends a payer's lamports and tokens of a mint to the parties of the demo. The payer mints the tokens where it is the mint's authority, else
 * it must hold them. @throws DeployStopped and DemoFailed from each method.
 */
export const payerFunds = (context: DeployContext, mint: Address): PayerFunds => {
  const { rpc, payer, say } = context;
  const payerTokens = associatedTokenAddress(payer.address, mint);
  let runs: ReadonlyArray<Run> = [];

  const must = async (what: string, unsent: Parameters<typeof landed>[2]): Promise<void> => {
    if (!(await landed(context, what, unsent)))
      throw new DemoFailed(`${what}: the transaction did not land in time; run the demo again`);
  };

  /** The payer's runs up to the first whose merchant is not registered yet. */
  const runsSoFar = async (deployment: Deployment): Promise<ReadonlyArray<Run>> => {
    const found: Array<Run> = [];
    for (;;) {
      const run = runOf(payer, found.length);
      found.push(run);
      const { address } = merchantAddress(deployment, run.merchant.key.address);
      const [account = null] = await rpc.accounts([address]);
      if (account?.owner !== deployment.attestorProgram) return found;
    }
  };

  const isMintAuthority = async (): Promise<boolean> => {
    const [account = null] = await rpc.accounts([mint]);
    if (account === null || !isClassicMint(account))
      throw new DemoFailed(`--mint: ${mint} is no mint on this cluster; give that of the service`);
    const fields = fieldsOf(account.data);
    return fields.u32(0) === 1 && fields.address(4) === payer.address;
  };

  const giveTokens = async (to: Address): Promise<ReadonlyArray<Instruction>> => {
    const account = associatedTokenAddress(to, mint);
    const amount = BigInt(DEMO_BASE_UNITS);
    const make = createAssociatedTokenInstruction({ payer: payer.address, owner: to, mint });
    if (await isMintAuthority())
      return [make, mintTokens({ mint, account, authority: payer.address, amount })];
    const [own = null] = await rpc.accounts([payerTokens]);
    const has = (own === null ? undefined : decodeTokenAccount(own))?.amount ?? 0n;
    if (has < amount)
      throw new DemoFailed(
        `the payer ${payer.address} has ${has} base units of ${mint} and the demo needs ${amount}; send it ${amount - has} more`,
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

  const sweepAll = async (some: ReadonlyArray<Run>) => {
    let lamports = 0n;
    let tokens = 0n;
    for (const run of some)
      for (const role of HOLDERS) {
        const swept = await sweep(run[role].key);
        lamports += swept.lamports;
        tokens += swept.tokens;
      }
    return { lamports, tokens };
  };

  return {
    parties: async (deployment) => {
      runs = await runsSoFar(deployment);
      const left = await sweepAll(runs);
      if (left.lamports > 0n) say(`   → ${left.lamports} lamports of an earlier demo came back`);
      const run = runs.at(-1);
      if (run === undefined) throw new Error("a payer has at least one run");
      await must("funding the demo's parties", {
        instructions: [
          ...HOLDERS.map((role) =>
            transferLamports(payer.address, run[role].key.address, PARTY_LAMPORTS[role]),
          ),
          ...(await giveTokens(run.agent.key.address)),
        ],
      });
      say(
        `   → payer ${payer.address} lends them SOL, and ${DEMO_BASE_UNITS} base units of ${mint} to agent ${run.agent.key.address}`,
      );
      const [agent, merchant, attestor, passerBy] = await Promise.all([
        walletOfSeed(run.agent.seed),
        walletOfSeed(run.merchant.seed),
        walletOfSeed(run.attestor.seed),
        walletOfSeed(run.passerBy.seed),
      ]);
      return { agent, merchant, attestor, passerBy };
    },
    latestBlockhash: async () => (await rpc.latestBlockhash()).blockhash,
    giveBack: () => sweepAll(runs),
  };
};
