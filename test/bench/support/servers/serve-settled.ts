import { encodeEscrowAccount } from "../../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { accountOf } from "../../../doubles/accounts.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { walletOf } from "../../../simulation/world-escrow.ts";
import { ChainNode } from "../../../world/chain-node.ts";
import { SettlementChain } from "../../../world/settlement-chain.ts";
import { serveNode } from "../../../simulation/serve-node.ts";
import { sampled, settledEscrow } from "../settled-world.ts";

// Run as a process: a node with those of argv[2] settled escrows that a measurement of argv[3] asks for, because one with
// all of a million needs 12 GB, and with the frontier argv[4] after all their events. Prints its address.
const chain = new SettlementChain();
const [escrows, count] = process.argv.slice(2, 4).map(Number);
const frontier = new Uint8Array(Buffer.from(process.argv[4] ?? "", "base64"));
for (const number of sampled(escrows ?? 0, count ?? 0)) {
  const escrow = settledEscrow(number);
  const owner = LOCAL_DEPLOYMENT.custodyProgram;
  chain.put(accountOf(escrow.address, owner, encodeEscrowAccount(escrow)));
}
const events = { count: BigInt(2 * (escrows ?? 0)), frontier };
chain.put(custodyConfigAccount(LOCAL_DEPLOYMENT, events, walletOf("genesis")));
chain.slot += 100n;
const { url } = serveNode(new ChainNode(chain).answer);
process.stdout.write(`${url}\n`);
