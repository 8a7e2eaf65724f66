import type { DeployContext } from "../deploy-context.ts";
import { solText } from "../deploy-cost.ts";
import { DeployStopped } from "../deploy-stopped.ts";
import { RpcRefused } from "./cluster-rpc.ts";

/** The most that faucets give at once: a devnet node's limit, in lamports. */
const MAX_AIRDROP = 2_000_000_000n;
const POLL_MS = 200;
/** A faucet's transaction lands within this time or never. */
const WAIT_MS = 60_000;

const askFaucet = async ({ rpc, payer }: DeployContext, missing: bigint): Promise<void> => {
  const before = await rpc.balance(payer.address);
  try {
    await rpc.airdrop(payer.address, missing < MAX_AIRDROP ? missing : MAX_AIRDROP);
  } catch (cause) {
    if (!(cause instanceof RpcRefused)) throw cause;
    throw new DeployStopped(
      1,
      `--airdrop: ${rpc.shown} gives nothing (${cause.reason}); send ${solText(missing)} SOL to ${payer.address} and run the command again`,
    );
  }
  const deadline = performance.now() + WAIT_MS;
  while ((await rpc.balance(payer.address)) <= before) {
    if (performance.now() > deadline)
      throw new DeployStopped(
        1,
        `--airdrop: nothing has come within ${WAIT_MS / 1000} s; send ${solText(missing)} SOL to ${payer.address} and run the command again`,
      );
    await Bun.sleep(POLL_MS);
  }
};

/** Checks that the payer has these lamports, and asks the cluster's faucet where that is wanted. @throws DeployStopped that says how much is missing. */
export const requireFunds = async (
  context: DeployContext,
  needed: bigint,
  airdrop: boolean,
): Promise<void> => {
  const { rpc, payer, say } = context;
  for (;;) {
    const balance = await rpc.balance(payer.address);
    const missing = needed - balance;
    if (missing <= 0n) return;
    if (!airdrop)
      throw new DeployStopped(
        1,
        `--payer-key: ${payer.address} has ${balance} lamports and needs ${needed}; ${missing} lamports (${solText(missing)} SOL) are missing: send them there, or add --airdrop where the cluster has a faucet`,
      );
    say(`asking the faucet for ${solText(missing)} SOL`);
    await askFaucet(context, missing);
  }
};
