import { hash32FromBytes } from "../../../core/domain/hash32.ts";
import type { Address } from "../../../core/domain/address.ts";
import type { Deployment } from "../../../core/domain/ledger/deployment.ts";
import {
  type AttestorRegistry,
  type CustodyConfig,
  decodeAttestorRegistryAccount,
  decodeCustodyConfigAccount,
  ledgerDomain,
} from "../../../core/protocol/accounts/settings-accounts.ts";
import {
  custodyConfigAddress,
  registryAddress,
} from "../../../core/protocol/addresses/addresses.ts";
import {
  acceptAdminInstruction,
  initializeRegistryInstruction,
  proposeAdminInstruction,
} from "../../../core/protocol/instructions/attestor-instructions.ts";
import { initializeCustodyInstruction } from "../../../core/protocol/instructions/custody-instructions.ts";
import { type DeployContext, landed } from "../deploy-context.ts";
import type { DeployKey } from "../inputs/deploy-key.ts";
import { DeployStopped } from "../deploy-stopped.ts";

/** The configuration accounts of both programs; null for one that is not made yet. */
export type Configuration = {
  readonly registry: AttestorRegistry | null;
  readonly config: CustodyConfig | null;
};

/** Who shall be the registry's admin. With a key the office is taken over at once, without one it is proposed. */
export type Admin = { readonly address: Address; readonly key: DeployKey | undefined };

const foreign = (address: Address | undefined, why: string): DeployStopped =>
  new DeployStopped(
    1,
    `${address} is not a configuration of these programs (${why}); use another --keys folder to deploy new programs`,
  );

/**
 * Reads both configuration accounts. @throws DeployStopped for one that this version does not read, or that names
 * another program or, where the genesis hash is given, another ledger.
 */
export const readConfiguration = async (
  { rpc }: Pick<DeployContext, "rpc">,
  deployment: Deployment,
  genesisHash?: Address,
): Promise<Configuration> => {
  const addresses = [registryAddress(deployment).address, custodyConfigAddress(deployment).address];
  const [registryAccount = null, configAccount = null] = await rpc.accounts(addresses);
  // Lamports that someone sent there do not make it a configuration.
  const registry =
    registryAccount?.owner === deployment.attestorProgram
      ? decodeAttestorRegistryAccount(registryAccount, deployment)
      : null;
  const config =
    configAccount?.owner === deployment.custodyProgram
      ? decodeCustodyConfigAccount(configAccount, deployment)
      : null;
  if (registry !== null && "fault" in registry) throw foreign(addresses[0], registry.fault);
  if (config !== null && "fault" in config) throw foreign(addresses[1], config.fault);
  if (registry !== null && registry.value.custodyProgram !== deployment.custodyProgram)
    throw foreign(addresses[0], `it names custody ${registry.value.custodyProgram}`);
  if (config !== null && config.value.attestorProgram !== deployment.attestorProgram)
    throw foreign(addresses[1], `it names attestor ${config.value.attestorProgram}`);
  const domain =
    genesisHash && hash32FromBytes(ledgerDomain(genesisHash, deployment.custodyProgram));
  if (config !== null && domain !== undefined && config.value.domain !== domain)
    throw foreign(addresses[1], "it names another ledger");
  return { registry: registry?.value ?? null, config: config?.value ?? null };
};

/**
 * Initialises what is not initialised, with the payer as the registry's first admin. Returns what stands then. @throws
 * DeployStopped
 */
export const initialisePrograms = async (
  context: DeployContext,
  deployment: Deployment,
  {
    settlementMint,
    genesisHash,
  }: { readonly settlementMint: Address; readonly genesisHash: Address },
): Promise<{ readonly registry: AttestorRegistry }> => {
  const { payer, say } = context;
  const authority = { payer: payer.address, upgradeAuthority: payer.address };
  for (;;) {
    const { registry, config } = await readConfiguration(context, deployment);
    if (registry !== null && config !== null) return { registry };
    const instructions = [
      ...(registry === null
        ? [initializeRegistryInstruction(deployment, { ...authority, settlementMint })]
        : []),
      ...(config === null
        ? [initializeCustodyInstruction(deployment, { ...authority, genesisHash })]
        : []),
    ];
    if (await landed(context, "initialising the programs", { instructions }))
      say("  both programs are initialised");
  }
};

/**
 * Hands the admin's office to whoever shall have it, or proposes it. @throws DeployStopped when the payer is not the
 * admin.
 */
export const handOverAdmin = async (
  context: DeployContext,
  deployment: Deployment,
  wanted: Admin,
): Promise<void> => {
  const { payer, say } = context;
  for (;;) {
    const { registry } = await readConfiguration(context, deployment);
    if (registry === null) throw new Error("the registry is initialised before its admin changes");
    if (registry.admin === wanted.address) return;
    const isProposed = registry.proposedAdmin === wanted.address;
    if (isProposed && wanted.key === undefined) {
      say(
        `  admin ${wanted.address} is proposed and takes office by accept_admin: run this command again with --admin FILE of its key`,
      );
      return;
    }
    if (!isProposed && registry.admin !== payer.address)
      throw new DeployStopped(
        1,
        `--admin: the registry's admin is ${registry.admin}, and only that key hands the office over; use it as --payer-key, or leave --admin out`,
      );
    const { key } = wanted;
    await landed(context, "handing over the admin's office", {
      signers: key === undefined ? [] : [key],
      instructions: [
        ...(isProposed
          ? []
          : [
              proposeAdminInstruction(deployment, {
                admin: payer.address,
                proposed: wanted.address,
              }),
            ]),
        ...(key === undefined
          ? []
          : [acceptAdminInstruction(deployment, { proposed: key.address })]),
      ],
    });
  }
};
