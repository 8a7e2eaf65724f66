import type { Address } from "../../../core/domain/address.ts";
import { programDataAddress } from "../../../core/protocol/addresses/addresses.ts";
import { setAuthorityInstruction } from "../../../core/protocol/instructions/loader-instructions.ts";
import { type DeployContext, landed, type ProgramTarget } from "../deploy-context.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import type { DeployOptions } from "../inputs/deploy-options.ts";
import { type ProgramState, readProgram } from "./program-state.ts";

/** Who shall have the right to upgrade both programs; null for nobody, undefined for whoever has it. */
export const wantedAuthority = ({
  authority,
  final,
}: Pick<DeployOptions, "authority" | "final">): Address | null | undefined =>
  final ? null : authority;

/**
 * Whether the right to upgrade a program is still to be given away. @throws DeployStopped when it is not the payer's to
 * give.
 */
export const isToBeGiven = (
  { name, address }: Pick<ProgramTarget, "name" | "address">,
  { data }: ProgramState,
  payer: Address,
  wanted: Address | null | undefined,
): boolean => {
  const present = data === null ? payer : data.upgradeAuthority;
  if (wanted === undefined || present === wanted) return false;
  if (present === payer) return true;
  const option = wanted === null ? "--final" : "--authority";
  throw new DeployStopped(
    1,
    present === null
      ? `${option}: ${name} ${address} can be upgraded by nobody any more; leave the option out`
      : `${option}: ${name} ${address} is ${present}'s to upgrade, and only that key gives the right away; use it as --payer-key, or leave the option out`,
  );
};

/** What becomes of some programs, in words for who agrees to it. */
export const authorityText = (names: ReadonlyArray<string>, wanted: Address | null): string =>
  wanted === null
    ? `${names.join(" and ")} become final: nobody can upgrade or mend them any more, and nothing undoes that`
    : `the right to upgrade ${names.join(" and ")} goes to ${wanted}: this command cannot take it back. Of a multisig give the address that signs for it, which for Squads is the vault's`;

/** Gives the right to upgrade programs to an address, or to nobody, in one transaction. @throws DeployStopped */
export const giveAuthority = async (
  context: DeployContext,
  targets: ReadonlyArray<ProgramTarget>,
  wanted: Address | null,
): Promise<void> => {
  const { payer, say } = context;
  for (;;) {
    const open: Array<ProgramTarget> = [];
    for (const target of targets)
      if (isToBeGiven(target, await readProgram(context, target), payer.address, wanted))
        open.push(target);
    if (open.length === 0) return;
    const instructions = open.map(({ address }) =>
      setAuthorityInstruction(programDataAddress(address), payer.address, wanted),
    );
    if (await landed(context, "giving away the right to upgrade", { instructions }))
      say(
        wanted === null
          ? "  nobody can upgrade the programs any more"
          : `  only ${wanted} can upgrade the programs now`,
      );
  }
};
