import { join } from "node:path";
import {
  initializeMint,
  transferLamports,
} from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import { type Address, parseAddress } from "../../core/domain/address.ts";
import { mintDecimals } from "../../core/protocol/accounts/token.ts";
import { TOKEN_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  allocateAccount,
  assignAccount,
} from "../../core/protocol/instructions/account-instructions.ts";
import { EX_USAGE } from "../command-line/command-line.ts";
import { type DeployContext, landed } from "./deploy-context.ts";
import type { DeployKey } from "./inputs/deploy-key.ts";
import { keptKey } from "./inputs/deploy-keys.ts";
import { DeployStopped } from "./deploy-stopped.ts";

/** Bytes of an SPL Token mint (SPL Token `state.rs`: Mint::LEN). */
export const MINT_LENGTH = 82;
/** Decimals of a new mint, those of USDC. */
const NEW_MINT_DECIMALS = 6;

/** The mint whose deliveries count, and how it comes about. */
export type SettlementMint = {
  readonly address: Address;
  /** The key of a mint that is to be made; undefined for one that is there. */
  readonly key: DeployKey | undefined;
  readonly decimals: number;
};

/** The file in a key folder that holds a new mint's key. */
export const mintKeyPath = (folder: string): string => join(folder, "mint.json");

/** A mint that is there, by its address as text. @throws DeployStopped when it is no mint that custody takes. */
export const existingMint = async (
  { rpc }: DeployContext,
  text: string,
): Promise<SettlementMint> => {
  const address = parseAddress(text);
  if (address === undefined)
    throw new DeployStopped(
      EX_USAGE,
      `--mint: "${text.slice(0, 60)}" is no address; give a mint's base58 address of 32 bytes, or --new-mint`,
    );
  const [account = null] = await rpc.accounts([address]);
  const decimals = account === null ? undefined : mintDecimals(account);
  if (decimals === undefined)
    throw new DeployStopped(
      1,
      `--mint: ${address} is no mint of the classic token program on this cluster (${account === null ? "nothing is there" : `it belongs to ${account.owner}`}); give another, or --new-mint`,
    );
  return { address, key: undefined, decimals };
};

/** A mint of one's own, with a key in the folder; made unless it is there. @throws DeployStopped */
export const newMint = async ({ rpc }: DeployContext, folder: string): Promise<SettlementMint> => {
  const key = await keptKey(mintKeyPath(folder));
  const [account = null] = await rpc.accounts([key.address]);
  const decimals = account === null ? undefined : mintDecimals(account);
  return decimals === undefined
    ? { address: key.address, key, decimals: NEW_MINT_DECIMALS }
    : { address: key.address, key: undefined, decimals };
};

/** Makes a mint that is not there yet, under the payer's authority. @throws DeployStopped */
export const makeMint = async (
  context: DeployContext,
  { address, key, decimals }: SettlementMint,
): Promise<void> => {
  if (key === undefined) return;
  const { rpc, payer } = context;
  for (;;) {
    const [account = null] = await rpc.accounts([address]);
    if (account !== null && mintDecimals(account) !== undefined) return;
    const missing = (await rpc.rentExempt(MINT_LENGTH)) - (account?.lamports ?? 0n);
    await landed(context, "making the mint", {
      signers: [key],
      instructions: [
        ...(missing > 0n ? [transferLamports(payer.address, address, missing)] : []),
        allocateAccount(address, MINT_LENGTH),
        assignAccount(address, TOKEN_PROGRAM),
        initializeMint({ mint: address, decimals, authority: payer.address }),
      ],
    });
  }
};
