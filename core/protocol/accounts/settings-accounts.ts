import { type Address, addressToBytes } from "../../domain/address.ts";
import type { Hash32 } from "../../domain/hash32.ts";
import type { Decoded, LedgerAccount } from "../../domain/ledger/account.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";
import { sha256 } from "../../domain/sha256.ts";
import { custodyConfigAddress, registryAddress } from "../addresses/addresses.ts";
import { ATTESTOR_ACCOUNTS, ATTESTOR_CONSTANTS } from "../generated/attestor.ts";
import { CUSTODY_ACCOUNTS, CUSTODY_CONSTANTS } from "../generated/custody.ts";
import { fieldsOf } from "./byte-fields.ts";

/** The custody program's one configuration account, made by `initialize_custody`. */
export type CustodyConfig = {
  readonly bump: number;
  readonly attestorProgram: Address;
  /** The ledger and the program, as `ledgerDomain` makes it. */
  readonly domain: Hash32;
  /**
   * The number of the latest event, which is also the count of events: the log's leaves without leaf 0. [0, 2^40 - 2]
   */
  readonly count: bigint;
  /**
   * The log's perfect subtrees, 1,280 bytes: what a count and a frontier say together is in core/log/tree/frontier.ts.
   */
  readonly frontier: Uint8Array;
};

const PURPOSE = new TextEncoder().encode("settlement-evidence 3\0");

/**
 * What names a ledger and its custody program in the log's leaf 0: SHA-256("settlement-evidence 3" || 0x00 || genesis
 * hash || custody program), 32 bytes.
 */
export const ledgerDomain = (genesisHash: Address, custodyProgram: Address): Uint8Array => {
  const [genesis, program] = [addressToBytes(genesisHash), addressToBytes(custodyProgram)];
  return sha256(Uint8Array.of(...PURPOSE, ...genesis, ...program));
};

/** Leaves for which the frontier has room, leaf 0 among them. */
const MOST_LEAVES = 2n ** 40n - 1n;

const {
  discriminator: CONFIG_DISCRIMINATOR,
  length: CONFIG_LENGTH,
  at: CONFIG_AT,
} = CUSTODY_ACCOUNTS.CustodyConfig;

/** The configuration that account bytes hold (docs/protocol.md, "Custody config account"), or the fault. */
export const decodeCustodyConfigAccount = (
  { address, owner, data }: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<CustodyConfig> => {
  if (owner !== deployment.custodyProgram) return { fault: "wrong_owner" };
  if (data.length !== CONFIG_LENGTH) return { fault: "wrong_length" };
  if (CONFIG_DISCRIMINATOR.some((byte, i) => data[i] !== byte))
    return { fault: "wrong_discriminator" };
  const fields = fieldsOf(data);
  if (fields.u8(CONFIG_AT.version) !== CUSTODY_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  if (!fields.isZero(CONFIG_AT.reserved, CONFIG_AT.attestorProgram - CONFIG_AT.reserved))
    return { fault: "reserved_bytes_set" };
  const derived = custodyConfigAddress(deployment);
  if (derived.address !== address || derived.bump !== fields.u8(CONFIG_AT.bump))
    return { fault: "address_not_derived" };
  const leaves = fields.u64(CONFIG_AT.count);
  if (leaves === 0n || leaves > MOST_LEAVES) return { fault: "fields_contradict_state" };
  return {
    value: {
      bump: fields.u8(CONFIG_AT.bump),
      attestorProgram: fields.address(CONFIG_AT.attestorProgram),
      domain: fields.hash(CONFIG_AT.domain),
      count: leaves - 1n,
      frontier: fields.bytes(CONFIG_AT.frontier, CONFIG_LENGTH - CONFIG_AT.frontier),
    },
  };
};

/** The attestor program's one registry account, made by `initialize_registry`. */
export type AttestorRegistry = {
  readonly bump: number;
  /** Who may suspend and slash merchants. */
  readonly admin: Address;
  readonly custodyProgram: Address;
  /** The mint whose deliveries count towards reputation and volume. */
  readonly settlementMint: Address;
  /** Who may become admin, null where nobody is proposed. */
  readonly proposedAdmin: Address | null;
};

const {
  discriminator: REGISTRY_DISCRIMINATOR,
  length: REGISTRY_LENGTH,
  at: REGISTRY_AT,
} = ATTESTOR_ACCOUNTS.Registry;

/** The registry that account bytes hold (docs/protocol.md, "Registry account"), or the fault. */
export const decodeAttestorRegistryAccount = (
  { address, owner, data }: Pick<LedgerAccount, "address" | "owner" | "data">,
  deployment: Deployment,
): Decoded<AttestorRegistry> => {
  if (owner !== deployment.attestorProgram) return { fault: "wrong_owner" };
  if (data.length !== REGISTRY_LENGTH) return { fault: "wrong_length" };
  if (REGISTRY_DISCRIMINATOR.some((byte, i) => data[i] !== byte))
    return { fault: "wrong_discriminator" };
  const fields = fieldsOf(data);
  if (fields.u8(REGISTRY_AT.version) !== ATTESTOR_CONSTANTS.ACCOUNT_VERSION)
    return { fault: "unknown_version" };
  if (!fields.isZero(REGISTRY_AT.reserved, REGISTRY_AT.admin - REGISTRY_AT.reserved))
    return { fault: "reserved_bytes_set" };
  const derived = registryAddress(deployment);
  if (derived.address !== address || derived.bump !== fields.u8(REGISTRY_AT.bump))
    return { fault: "address_not_derived" };
  return {
    value: {
      bump: fields.u8(REGISTRY_AT.bump),
      admin: fields.address(REGISTRY_AT.admin),
      custodyProgram: fields.address(REGISTRY_AT.custodyProgram),
      settlementMint: fields.address(REGISTRY_AT.settlementMint),
      proposedAdmin: fields.isZero(REGISTRY_AT.proposedAdmin, 32)
        ? null
        : fields.address(REGISTRY_AT.proposedAdmin),
    },
  };
};
