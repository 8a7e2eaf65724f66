import type { DemoFunds } from "./demo-funds.ts";
import { localFaucet } from "./local-faucet.ts";
import type { Narrator } from "../narrator.ts";
import { newWallet } from "../wallet.ts";

/** Play money from the faucet of the local ledger whose RPC address is `rpcUrl`, for new wallets. Nothing goes back. */
export const localFunds = (rpcUrl: string, narrator: Narrator): DemoFunds => {
  const faucet = localFaucet(rpcUrl, narrator);
  return {
    parties: async () => {
      const [agent, merchant, attestor, passerBy] = await Promise.all([
        newWallet(),
        newWallet(),
        newWallet(),
        newWallet(),
      ]);
      await Promise.all([
        faucet.sol(agent.address, 10),
        faucet.sol(merchant.address, 10),
        faucet.sol(passerBy.address, 1),
        faucet.usdc(agent.address, 25_000_000),
      ]);
      narrator.result(`agent ${agent.address} has 25 mock USDC`);
      return { agent, merchant, attestor, passerBy };
    },
    latestBlockhash: faucet.latestBlockhash,
  };
};
