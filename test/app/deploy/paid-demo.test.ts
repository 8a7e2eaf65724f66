import { expect, test } from "bun:test";
import { demonstrate } from "../../../app/deploy/demonstrate.ts";
import { mintDecimals } from "../../../core/protocol/accounts/token.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { deploy, emptyCluster } from "./deploy-fixture.ts";

test("a deployed service is demonstrated, and the payer gets back what is left", async () => {
  // Slots as long as a cluster's: a blockhash lives for 150 of them, and the service needs it that long.
  const cluster = await emptyCluster(400);
  try {
    const deployed = await deploy(
      cluster.options({ "new-payer": true, airdrop: true, "new-mint": true, demo: true }),
    );
    const said: Array<string> = [];
    const context = { ...deployed.context, say: (line: string) => void said.push(line) };
    const { payer } = context;
    const before = cluster.balance(payer.address);
    await demonstrate(context, deployed);
    const text = said.join("\n");
    expect(text).toMatch(
      /Verified: \w+ was released, \w+ was refunded; account_on_ledger, attestor_is_the_merchants, program_bytes unproven\./,
    );
    expect(text).toContain("The parties returned");

    // Every party is empty, and every token that was minted for them is the payer's.
    const agent = /base units of \w+ to agent (\w+)/.exec(text)?.[1];
    expect(agent && cluster.balance(agent as typeof payer.address)).toBe(0n);
    const tokens = cluster.ledger.accounts.read(
      associatedTokenAddress(payer.address, deployed.mint),
      "processed",
    );
    expect(Buffer.from(tokens?.data ?? []).readBigUInt64LE(64)).toBe(4_000_000n);
    const mint = cluster.ledger.accounts.read(deployed.mint, "processed");
    expect(mint && mintDecimals(mint)).toBe(6);
    expect(Buffer.from(mint?.data ?? []).readBigUInt64LE(36)).toBe(4_000_000n);
    // Deposits of two settled escrows, a merchant and the payer's token account, and fees.
    expect(before - cluster.balance(payer.address)).toBeLessThan(13_000_000n);
  } finally {
    await cluster.stop();
  }
}, 180_000);
