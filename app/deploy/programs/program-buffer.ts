import { readFile } from "node:fs/promises";
import { transferLamports } from "../../../adapters/local-ledger/genesis/funding-instructions.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { Hash32 } from "../../../core/domain/hash32.ts";
import {
  BUFFER_HEADER_LENGTH,
  decodeBufferAccount,
  programHash,
} from "../../../core/protocol/accounts/loader-v3.ts";
import { seededAddress } from "../../../core/protocol/addresses/program-derived-address.ts";
import { UPGRADEABLE_LOADER } from "../../../core/protocol/addresses/well-known-addresses.ts";
import { allocateSeededAccount } from "../../../core/protocol/instructions/account-instructions.ts";
import {
  closeBufferInstruction,
  initializeBufferInstruction,
  writeBufferInstruction,
} from "../../../core/protocol/instructions/loader-instructions.ts";
import { WRITE_UNITS } from "../cluster/priority-fee.ts";
import type { SbpfVersion } from "../cluster/require-funds.ts";
import { sendTransactions } from "../cluster/send-transactions.ts";
import { type DeployContext, landed } from "../deploy-context.ts";
import { DeployStopped } from "../deploy-stopped.ts";

/** The programs by name, in the order in which they are deployed. */
export const PROGRAM_NAMES = ["attestor", "custody"] as const;

/** One of them. */
export type ProgramName = (typeof PROGRAM_NAMES)[number];

/** A built program file. */
export type ProgramBinary = {
  readonly version: SbpfVersion;
  /** Below `programs/`. */
  readonly file: string;
  readonly elf: Uint8Array;
  /** The file's `programHash`, which is its SHA-256, since no built file ends with zero bytes. */
  readonly sha256: Hash32;
};

/** The built file of a program for a version of the bytecode. */
export const programBinary = async (
  name: ProgramName,
  version: SbpfVersion,
): Promise<ProgramBinary> => {
  const file = version === "v0" ? `${name}.so` : `${name}.${version}.so`;
  const elf = new Uint8Array(await readFile(new URL(`../../../programs/${file}`, import.meta.url)));
  return { version, file, elf, sha256: programHash(elf) };
};

/**
 * Bytes of ELF in one Write. With one signature and a version 0 message the transaction has 1,222 of 1,232 bytes; a
 * price and a limit take 52 of them.
 */
const chunkBytes = (price: bigint): number => (price === 0n ? 1000 : 950);
/** Attempts to write the missing parts, before the command stops. Each lasts at most until its blockhash expires. */
const MAX_WRITE_ROUNDS = 20;

const seedOf = (name: ProgramName): string => `settlement-evidence/${name}`;

/**
 * Where a payer's buffer for a program is. It follows from the payer's key alone, so no killed or forgotten run leaves
 * a buffer that the next one does not find.
 */
export const bufferAddress = (payer: Address, name: ProgramName): Address =>
  addressOf(payer, seedOf(name));

/**
 * The seed of the buffer in which a file is proposed to another authority. It follows from the file, because the payer
 * cannot write to such a buffer again: another file needs another one.
 */
export const proposalSeed = ({ sha256 }: ProgramBinary): string => `upgrade/${sha256.slice(0, 24)}`;

const addressOf = (payer: Address, seed: string): Address =>
  seededAddress(payer, seed, UPGRADEABLE_LOADER);

/** The payer's buffer of a seed as the ledger shows it: undefined for none. */
export const readBuffer = async ({ rpc, payer }: DeployContext, seed: string) => {
  const address = addressOf(payer.address, seed);
  const [account = null] = await rpc.accounts([address]);
  const buffer = account === null ? undefined : decodeBufferAccount(account);
  return { address, lamports: account?.lamports ?? 0n, buffer };
};

/**
 * Closes the payer's buffer for a program, if there is one, and returns the lamports that came back. @throws
 * DeployStopped
 */
export const closeBuffer = async (
  context: DeployContext,
  name: ProgramName,
  seed = seedOf(name),
): Promise<bigint> => {
  const { payer } = context;
  for (;;) {
    const { address, buffer, lamports } = await readBuffer(context, seed);
    if (buffer === undefined) return 0n;
    const close = closeBufferInstruction(address, payer.address, payer.address);
    if (await landed(context, `closing buffer ${address}`, { instructions: [close] }))
      return lamports;
  }
};

/** Makes the buffer. Someone may have sent lamports to its address before, so CreateAccountWithSeed would fail. */
const makeBuffer = async (
  context: DeployContext,
  seed: string,
  length: number,
  there: bigint,
): Promise<void> => {
  const { rpc, payer } = context;
  const address = addressOf(payer.address, seed);
  const space = BUFFER_HEADER_LENGTH + length;
  const needed = (await rpc.rentExempt(space)) - there;
  const seeded = { base: payer.address, seed, owner: UPGRADEABLE_LOADER };
  await landed(context, `making buffer ${address}`, {
    instructions: [
      ...(needed > 0n ? [transferLamports(payer.address, address, needed)] : []),
      allocateSeededAccount(seeded, space),
      initializeBufferInstruction(address, payer.address),
    ],
  });
};

const isSame = (a: Uint8Array, b: Uint8Array, from: number, to: number): boolean =>
  Buffer.compare(a.subarray(from, to), b.subarray(from, to)) === 0;

/**
 * Fills the payer's buffer for a program with a binary and returns its address. It goes on with what an earlier run
 * wrote; a buffer of another length is closed first. @throws DeployStopped
 */
export const fillBuffer = async (
  context: DeployContext,
  name: ProgramName,
  { elf, file }: ProgramBinary,
  seed = seedOf(name),
): Promise<Address> => {
  const { rpc, payer, say, priorityFee } = context;
  const size = chunkBytes(priorityFee);
  const address = addressOf(payer.address, seed);
  for (let round = 0; round < MAX_WRITE_ROUNDS; round++) {
    const { buffer, lamports } = await readBuffer(context, seed);
    if (buffer === undefined) {
      await makeBuffer(context, seed, elf.length, lamports);
      continue;
    }
    if (buffer.elf.length !== elf.length) {
      const back = await closeBuffer(context, name, seed);
      say(`  ${name}: closed a buffer of another file, ${back} lamports came back`);
      continue;
    }
    const all = Array.from({ length: bufferWrites(elf.length, priorityFee) }, (_, i) => i * size);
    const missing = all.filter((at) => !isSame(buffer.elf, elf, at, at + size));
    if (missing.length === 0) return address;
    say(
      `  ${name}: writing ${missing.length} of ${all.length} parts of ${file} to buffer ${address}`,
    );
    const writes = missing.map((at) => ({
      instructions: [
        writeBufferInstruction(address, payer.address, at, elf.subarray(at, at + size)),
      ],
    }));
    const endings = await sendTransactions(rpc, payer, writes, {
      skipPreflight: true,
      price: priorityFee,
      units: WRITE_UNITS,
    });
    const failed = endings.find(({ kind }) => kind === "failed");
    if (failed?.kind === "failed")
      throw new DeployStopped(
        1,
        `writing to buffer ${address}: the ledger refuses it with ${JSON.stringify(failed.error)}; run the command again`,
      );
  }
  throw new DeployStopped(
    1,
    `buffer ${address} is not full after ${MAX_WRITE_ROUNDS} rounds; offer a price with --priority-fee or use another node, and run the command again: it goes on where it stopped`,
  );
};

/**
 * The number of transactions that write this number of bytes to a buffer, at a price in micro-lamports for each compute
 * unit.
 */
export const bufferWrites = (length: number, price: bigint): number =>
  Math.ceil(length / chunkBytes(price));
