import {
  BUFFER_HEADER_LENGTH,
  PROGRAM_DATA_HEADER_LENGTH,
  PROGRAM_LENGTH,
} from "../../core/protocol/accounts/loader-v3.ts";
import { ATTESTOR_ACCOUNTS } from "../../core/protocol/generated/attestor.ts";
import { CUSTODY_ACCOUNTS } from "../../core/protocol/generated/custody.ts";
import type { ClusterRpc } from "./cluster/cluster-rpc.ts";
import { MOST_UNITS, priorityLamports, WRITE_UNITS } from "./cluster/priority-fee.ts";
import type { Configuration } from "./programs/initialise-programs.ts";
import { type Choice, extensionFor } from "./programs/place-program.ts";
import { bufferWrites, type ProgramName } from "./programs/program-buffer.ts";
import type { ProposedUpgrade } from "./programs/proposed-upgrade.ts";
import { deployedBinary, type ProgramState } from "./programs/program-state.ts";
import { MINT_LENGTH, type SettlementMint } from "./settlement-mint.ts";

/** Lamports of one signature (Agave `fee-structure`: lamports_per_signature). */
const SIGNATURE_LAMPORTS = 5000n;

/** Transactions of a demo that the deployment's payer signs: one funds the parties, three give back. */
const DEMO_TRANSACTIONS = 4;

/** One line of a cost. */
export type CostLine = { readonly what: string; readonly lamports: bigint };

/** What a deployment takes from its payer, in lamports. None is negative. */
export type DeployCost = {
  /** Empty when nothing is left to do, which a buffer to close is not: its signature costs. */
  readonly lines: ReadonlyArray<CostLine>;
  /** The sum of the lines. */
  readonly total: bigint;
  /** What an earlier run has paid too much and comes back, apart from the lines. */
  readonly returned: ReadonlyArray<CostLine>;
  /** What lies in a buffer for a while and comes back beyond the total. */
  readonly held: bigint;
  /** What the payer must have: both, and what keeps its account alive. */
  readonly needed: bigint;
};

/** What is known before a deployment. */
export type Standing = {
  readonly programs: ReadonlyArray<{
    readonly name: ProgramName;
    readonly state: ProgramState;
    readonly choice: Choice;
    /** The upgrade that another authority must sign, in place of one by the payer. */
    readonly proposal: ProposedUpgrade | undefined;
  }>;
  readonly configuration: Configuration;
  readonly mint: SettlementMint | undefined;
  /** Whether the admin's office is to be handed over. */
  readonly handsOver: boolean;
  /** Whether the right to upgrade is to be given away. */
  readonly givesAuthority: boolean;
  /** Lamports that a demonstration takes along. */
  readonly demo: bigint;
  /** What every transaction offers, in micro-lamports for each compute unit. */
  readonly priorityFee: bigint;
};

const positive = (lamports: bigint): bigint => (lamports > 0n ? lamports : 0n);

/**
 * The most that a deployment can cost from where it stands. A part that an earlier run has paid is not counted again.
 */
export const deployCost = async (rpc: ClusterRpc, standing: Standing): Promise<DeployCost> => {
  const lines: Array<CostLine> = [];
  const returned: Array<CostLine> = [];
  const { priorityFee } = standing;
  let signatures = 0;
  /** Transactions beside the writes, which are smaller. */
  let transactions = 0;
  let writes = 0;
  /** Counts transactions with their signatures, and writes of one signature each. */
  const sends = (count: number, signed: number, parts = 0): void => {
    transactions += count;
    signatures += signed + parts;
    writes += parts;
  };
  let held = 0n;
  for (const { name, state, choice, proposal } of standing.programs) {
    const paid = state.buffer?.lamports ?? 0n;
    if (proposal !== undefined || deployedBinary(state, choice.accepted) !== undefined) {
      if (paid > 0n) {
        returned.push({ what: `${name}: a forgotten buffer comes back`, lamports: paid });
        sends(1, 1);
      }
      if (proposal === undefined || proposal.isReady) continue;
      const { length } = proposal.binary.elf;
      const parts = bufferWrites(length, priorityFee);
      const room = state.data?.elf.length ?? 0;
      const extension = extensionFor(room, length);
      const grown = await rpc.rentExempt(PROGRAM_DATA_HEADER_LENGTH + room + extension);
      const buffer = await rpc.rentExempt(BUFFER_HEADER_LENGTH + length);
      lines.push({
        what: `${name}: buffer of the upgrade that ${proposal.authority} must sign; it comes back then`,
        lamports: positive(buffer - proposal.lamports),
      });
      if (extension > 0)
        lines.push({
          what: `${name}: room for ${extension} bytes more`,
          lamports: positive(grown - state.dataLamports),
        });
      // The buffer is made, filled and handed over, and one transaction extends.
      sends(3, 3, parts);
      continue;
    }
    const length = Math.max(...choice.candidates.map(({ elf }) => elf.length));
    // The buffer is made, filled, and then deployed with two signatures, or two transactions extend and upgrade.
    const parts = bufferWrites(length, priorityFee);
    sends(state.data === null ? 2 : 3, 3, parts);
    const buffer = await rpc.rentExempt(BUFFER_HEADER_LENGTH + length);
    if (state.data === null) {
      const program = positive((await rpc.rentExempt(PROGRAM_LENGTH)) - state.lamports);
      const data = await rpc.rentExempt(PROGRAM_DATA_HEADER_LENGTH + length);
      const missing = program + data - paid;
      lines.push({ what: `${name}: deposit of the program`, lamports: positive(missing) });
      if (missing < 0n)
        returned.push({ what: `${name}: the rest of a buffer comes back`, lamports: -missing });
      continue;
    }
    const room = state.data.elf.length;
    const extension = extensionFor(room, length);
    const grown = await rpc.rentExempt(PROGRAM_DATA_HEADER_LENGTH + room + extension);
    lines.push({
      what: `${name}: upgrade${extension > 0 ? `, with room for ${extension} bytes more` : ""}`,
      lamports: extension > 0 ? positive(grown - state.dataLamports) : 0n,
    });
    const borrowed = positive(buffer - paid);
    held = borrowed > held ? borrowed : held;
  }
  const { registry, config } = standing.configuration;
  const makesMint = standing.mint?.key !== undefined;
  if (makesMint) lines.push({ what: "mint: deposit", lamports: await rpc.rentExempt(MINT_LENGTH) });
  if (registry === null)
    lines.push({
      what: "attestor: deposit of the registry",
      lamports: await rpc.rentExempt(ATTESTOR_ACCOUNTS.Registry.length),
    });
  if (config === null)
    lines.push({
      what: "custody: deposit of the configuration",
      lamports: await rpc.rentExempt(CUSTODY_ACCOUNTS.CustodyConfig.length),
    });
  if (makesMint) sends(1, 2);
  if (registry === null || config === null) sends(1, 1);
  if (standing.handsOver) sends(1, 2);
  if (standing.givesAuthority) sends(1, 1);
  if (signatures > 0)
    lines.push({
      what: `fees of at most ${signatures} signatures`,
      lamports: BigInt(signatures) * SIGNATURE_LAMPORTS,
    });
  const others = transactions + (standing.demo > 0n ? DEMO_TRANSACTIONS : 0);
  if (priorityFee > 0n && others > 0)
    lines.push({
      what: `priority fees of ${writes} writes and at most ${others} others, ${priorityFee} micro-lamports a compute unit`,
      lamports:
        BigInt(writes) * priorityLamports(priorityFee, WRITE_UNITS) +
        BigInt(others) * priorityLamports(priorityFee, MOST_UNITS),
    });
  if (standing.demo > 0n)
    lines.push({
      what: "demo: for its parties, who return what is left",
      lamports: standing.demo,
    });
  const total = lines.reduce((sum, { lamports }) => sum + lamports, 0n);
  const alive = lines.length === 0 ? 0n : await rpc.rentExempt(0);
  return { lines, total, returned, held, needed: total + held + alive };
};

/** Lamports as SOL, with nine decimals. */
export const solText = (lamports: bigint): string => {
  const digits = (lamports < 0n ? -lamports : lamports).toString().padStart(10, "0");
  return `${lamports < 0n ? "-" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`;
};

const row = (lamports: bigint, what: string): string =>
  `  ${lamports.toString().padStart(13)} lamports  ${solText(lamports).padStart(13)} SOL  ${what}`;

/** A cost as text, a line each. */
export const costText = ({ lines, total, returned, held }: DeployCost): string => {
  return [
    ...lines.map(({ what, lamports }) => row(lamports, what)),
    row(total, "in all, at most"),
    ...returned.map(({ what, lamports }) => row(lamports, what)),
    ...(held > 0n ? [row(held, "more for a while, in a buffer; it comes back")] : []),
  ].join("\n");
};
