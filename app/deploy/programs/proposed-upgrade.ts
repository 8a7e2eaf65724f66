import type { Address } from "../../../core/domain/address.ts";
import { type ProgramBuffer, programHash } from "../../../core/protocol/accounts/loader-v3.ts";
import { setAuthorityInstruction } from "../../../core/protocol/instructions/loader-instructions.ts";
import { type DeployContext, landed, type ProgramTarget } from "../deploy-context.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { extendTo } from "./place-program.ts";
import {
  closeBuffer,
  fillBuffer,
  type ProgramBinary,
  proposalSeed,
  readBuffer,
} from "./program-buffer.ts";
import { readProgram } from "./program-state.ts";

/** An upgrade that another authority than the payer must sign: the file, in a buffer that shall be that authority's. */
export type ProposedUpgrade = {
  readonly target: ProgramTarget;
  readonly binary: ProgramBinary;
  readonly authority: Address;
  readonly buffer: Address;
  /** What lies at the buffer's address already. */
  readonly lamports: bigint;
  /** Whether the buffer holds the file and is the authority's. */
  readonly isReady: boolean;
};

const isHanded = (
  buffer: ProgramBuffer | undefined,
  authority: Address,
  { sha256 }: ProgramBinary,
): boolean => buffer?.authority === authority && programHash(buffer.elf) === sha256;

/** How far the proposal of a file has come. @throws DeployStopped for a buffer of somebody else. */
export const readProposal = async (
  context: DeployContext,
  target: ProgramTarget,
  binary: ProgramBinary,
  authority: Address,
): Promise<ProposedUpgrade> => {
  const { address, buffer, lamports } = await readBuffer(context, proposalSeed(binary));
  const isReady = isHanded(buffer, authority, binary);
  if (buffer !== undefined && !isReady && buffer.authority !== context.payer.address)
    throw new DeployStopped(
      1,
      `${target.name}: buffer ${address} is ${buffer.authority}'s, which is not the program's authority ${authority} or has written to it; let it close the buffer, and run the command again`,
    );
  return { target, binary, authority, buffer: address, lamports, isReady };
};

/**
 * Writes the file into a buffer, gives the program room for it, and makes the buffer the authority's, who alone can
 * then use or close it. What stands already stays. @throws DeployStopped
 */
export const proposeUpgrade = async (
  context: DeployContext,
  { target, binary, authority }: ProposedUpgrade,
): Promise<void> => {
  const { payer } = context;
  await closeBuffer(context, target.name);
  const seed = proposalSeed(binary);
  for (;;) {
    const { isReady, buffer } = await readProposal(context, target, binary, authority);
    const { data } = await readProgram(context, target);
    if (data !== null && (await extendTo(context, target, data.elf.length, binary))) continue;
    if (isReady) return;
    await fillBuffer(context, target.name, binary, seed);
    const instructions = [setAuthorityInstruction(buffer, payer.address, authority)];
    await landed(context, `handing over buffer ${buffer}`, { instructions });
  }
};

/** What the authority must sign, as lines. */
export const proposalText = (
  { target, binary, authority, buffer }: ProposedUpgrade,
  payer: Address,
  standing: ReadonlyArray<string>,
): string =>
  [
    `  ${target.name}: the upgrade waits for the signature of ${authority} under the loader's Upgrade of`,
    `    program  ${target.address}, sha256 ${standing.join(" ")} until then`,
    `    buffer   ${buffer}, sha256 ${binary.sha256} (programs/${binary.file})`,
    `    spill    ${payer}, which gets the buffer's lamports back`,
  ].join("\n");
