import { join } from "node:path";
import { clusterOfGenesis } from "../../config/cluster.ts";
import { USDC_MINTS } from "../../config/supported-mints.ts";
import { parseAddress } from "../../../core/domain/address.ts";
import type { AttestorRegistry } from "../../../core/protocol/accounts/settings-accounts.ts";
import { EX_USAGE } from "../../command-line/command-line.ts";
import type { DeployContext, ProgramTarget } from "../deploy-context.ts";
import { keptKey, readDeployKey } from "./deploy-keys.ts";
import type { DeployOptions } from "./deploy-options.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import type { Admin } from "../programs/initialise-programs.ts";
import { PROGRAM_NAMES } from "../programs/program-buffer.ts";
import { existingMint, newMint, type SettlementMint } from "../settlement-mint.ts";

/** The programs to deploy: the addresses in the options, or the keys in the folder, which are made when missing. */
export const programTargets = (
  options: DeployOptions,
  folder: string,
): Promise<ReadonlyArray<ProgramTarget>> =>
  Promise.all(
    PROGRAM_NAMES.map(async (name) => {
      const address = options[name];
      if (address !== undefined) return { name, address, key: undefined };
      const key = await keptKey(join(folder, `${name}-program.json`));
      return { name, address: key.address, key };
    }),
  );

/**
 * The settlement mint: that of the registry where it is initialised, else that of the options, else the cluster's USDC.
 * @throws DeployStopped for one that differs from the registry's, that is no mint, or that nobody named.
 */
export const settlementMint = async (
  context: DeployContext,
  options: DeployOptions,
  folder: string,
  genesisHash: string,
  registry: AttestorRegistry | null,
): Promise<SettlementMint> => {
  const usdc = USDC_MINTS[clusterOfGenesis(genesisHash)][0];
  // A local ledger has no usual mint: only the service's own one has the mock USDC.
  const usual = clusterOfGenesis(genesisHash) === "localnet" ? undefined : usdc?.address;
  const wanted =
    options.mint ?? (options.newMint ? undefined : (registry?.settlementMint ?? usual));
  if (wanted === undefined && !options.newMint)
    throw new DeployStopped(
      EX_USAGE,
      "--mint ADDRESS or --new-mint is missing: the mint whose deliveries count cannot be changed later",
    );
  const mint =
    wanted === undefined ? await newMint(context, folder) : await existingMint(context, wanted);
  if (registry !== null && registry.settlementMint !== mint.address)
    throw new DeployStopped(
      1,
      `${options.newMint ? "--new-mint" : "--mint"}: the registry's mint is ${registry.settlementMint} for good; leave the option out, or use another --keys folder for new programs`,
    );
  return mint;
};

/** Who shall be admin: an address or the file of a key; the payer when nobody is named. @throws DeployStopped */
export const wantedAdmin = async (
  text: string | undefined,
  payer: Admin["address"],
): Promise<Admin> => {
  if (text === undefined || text === payer) return { address: payer, key: undefined };
  const address = parseAddress(text);
  if (address !== undefined) return { address, key: undefined };
  const key = await readDeployKey("--admin", text);
  return { address: key.address, key };
};
