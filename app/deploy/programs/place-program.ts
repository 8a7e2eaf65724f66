import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import { PROGRAM_LENGTH } from "../../../core/protocol/accounts/loader-v3.ts";
import { UPGRADEABLE_LOADER } from "../../../core/protocol/addresses/well-known-addresses.ts";
import {
  allocateAccount,
  assignAccount,
} from "../../../core/protocol/instructions/account-instructions.ts";
import {
  deployProgramInstruction,
  extendProgramInstruction,
  MIN_EXTENSION_BYTES,
  upgradeProgramInstruction,
} from "../../../core/protocol/instructions/loader-instructions.ts";
import {
  type DeployContext,
  landed,
  type ProgramTarget,
  TransactionRefused,
} from "../deploy-context.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { closeBuffer, fillBuffer, type ProgramBinary } from "./program-buffer.ts";
import {
  deployedBinary,
  type ProgramState,
  readProgram,
  requireUpgradeable,
} from "./program-state.ts";

const SLOT_MS = 400;

/** Waits for the next slot. A program can be called and upgraded only after the slot of its deployment. */
const nextSlot = async ({ rpc }: DeployContext): Promise<void> => {
  const slot = await rpc.slot();
  while ((await rpc.slot()) <= slot) await Bun.sleep(SLOT_MS / 2);
};

/**
 * Deploys the program from its buffer. Does not use CreateAccount, which fails when the address already has lamports.
 */
const deployFrom = async (
  context: DeployContext,
  target: ProgramTarget,
  state: ProgramState,
  binary: ProgramBinary,
): Promise<boolean> => {
  const { rpc, payer } = context;
  const { name, address, key } = target;
  if (key === undefined)
    throw new DeployStopped(
      1,
      `${name}: nothing is deployed at ${address}; check the address, or leave --${name} out to deploy a new program`,
    );
  const buffer = await fillBuffer(context, name, binary);
  const missing = (await rpc.rentExempt(PROGRAM_LENGTH)) - state.lamports;
  return landed(context, `deploying ${name}`, {
    signers: [key],
    instructions: [
      ...(missing > 0n ? [transferLamports(payer.address, address, missing)] : []),
      allocateAccount(address, PROGRAM_LENGTH),
      assignAccount(address, UPGRADEABLE_LOADER),
      deployProgramInstruction({
        payer: payer.address,
        program: address,
        buffer,
        authority: payer.address,
        maxLength: binary.elf.length,
      }),
    ],
  });
};

/** Bytes by which a deployed program must grow to hold a binary, 0 for none. */
export const extensionFor = (room: number, length: number): number =>
  length <= room ? 0 : Math.max(length - room, MIN_EXTENSION_BYTES);

/** Gives a deployed program room for a binary, where it has less; false when it has enough. @throws DeployStopped */
export const extendTo = async (
  context: DeployContext,
  { name, address }: ProgramTarget,
  room: number,
  binary: ProgramBinary,
): Promise<boolean> => {
  const extension = extensionFor(room, binary.elf.length);
  if (extension === 0) return false;
  const extend = extendProgramInstruction(address, context.payer.address, extension);
  // An extension counts as a deployment, and two in one slot are refused.
  if (await landed(context, `extending ${name}`, { instructions: [extend] }))
    await nextSlot(context);
  return true;
};

const upgradeFrom = async (
  context: DeployContext,
  target: ProgramTarget,
  room: number,
  binary: ProgramBinary,
): Promise<boolean> => {
  const { payer } = context;
  const { name, address } = target;
  const buffer = await fillBuffer(context, name, binary);
  if (await extendTo(context, target, room, binary)) return false;
  const upgrade = upgradeProgramInstruction({
    program: address,
    buffer,
    spill: payer.address,
    authority: payer.address,
  });
  return landed(context, `upgrading ${name}`, { instructions: [upgrade] });
};

/** Whether the loader's verifier refused the file itself, with InvalidAccountData. */
const isRefusedFile = (cause: unknown): cause is TransactionRefused =>
  cause instanceof TransactionRefused && JSON.stringify(cause.error).includes("InvalidAccountData");

/** Attempts to read the program and deploy it, before the command stops. */
const MAX_ROUNDS = 10;

const placeBinary = async (
  context: DeployContext,
  target: ProgramTarget,
  binary: ProgramBinary,
): Promise<void> => {
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const state = await readProgram(context, target);
    if (deployedBinary(state, [binary]) !== undefined) return;
    requireUpgradeable(target, state, context.payer.address);
    const done =
      state.data === null
        ? await deployFrom(context, target, state, binary)
        : await upgradeFrom(context, target, state.data.elf.length, binary);
    if (done) await nextSlot(context);
  }
  throw new DeployStopped(
    1,
    `${target.name} is not deployed after ${MAX_ROUNDS} rounds; use another node and run the command again: it goes on where it stopped`,
  );
};

/** The binaries of one program: `accepted` ones are left as they are, `candidates` are deployed, best first. */
export type Choice = {
  readonly accepted: ReadonlyArray<ProgramBinary>;
  readonly candidates: ReadonlyArray<ProgramBinary>;
};

/**
 * Deploys the first candidate that the loader accepts, and returns it. A program that holds an accepted binary is left
 * as it is. The payer's buffer is gone afterwards. @throws DeployStopped
 */
export const placeProgram = async (
  context: DeployContext,
  target: ProgramTarget,
  choice: Choice,
): Promise<ProgramBinary> => {
  const { name } = target;
  const there = deployedBinary(await readProgram(context, target), choice.accepted);
  const candidates = there === undefined ? choice.candidates : [there];
  for (const [i, binary] of candidates.entries()) {
    try {
      await placeBinary(context, target, binary);
      const back = await closeBuffer(context, name);
      if (back > 0n)
        context.say(`  ${name}: closed a forgotten buffer, ${back} lamports came back`);
      return binary;
    } catch (cause) {
      if (!isRefusedFile(cause)) throw cause;
      await closeBuffer(context, name);
      if (i + 1 === candidates.length) throw cause;
      context.say(
        `  ${name}: the loader refuses ${binary.file}, trying ${candidates[i + 1]?.file}`,
      );
    }
  }
  throw new Error("a deployment has at least one binary");
};
