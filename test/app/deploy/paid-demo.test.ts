import { expect, test } from "bun:test";
import { runCommand } from "../../../app/command-line/command-line.ts";
import { main as demo } from "../../../app/commands/demo.ts";
import { demonstrate } from "../../../app/deploy/demonstrate.ts";
import { mintDecimals } from "../../../core/protocol/accounts/token.ts";
import { associatedTokenAddress } from "../../../core/protocol/addresses/addresses.ts";
import { runHere } from "../support/run-here.ts";
import { SILENT_ADDRESS } from "../support/silent-address.ts";
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

test("a demo whose payer has no key or too little advises no option that only another command has", async () => {
  const cluster = await emptyCluster();
  try {
    const { path } = await cluster.keyFile("poor.json");
    const told = (...args: ReadonlyArray<string>) => runHere((io) => runCommand(demo, args, io));
    const paying = (payer: string) =>
      told("--service", SILENT_ADDRESS, "--rpc", cluster.url, "--payer-key", payer);
    const { stdout: help } = await told("--help");
    const [poor, missing] = [await paying(path), await paying(cluster.path("none.json"))];
    expect(poor.code).toBe(1);
    expect(poor.stderr).toContain("are missing: send them there");
    expect(missing.code).toBe(66);
    expect(missing.stderr).toContain("solana-keygen new");
    for (const { stderr } of [poor, missing])
      for (const [option] of stderr.matchAll(/--[a-z-]+/g)) expect(help).toContain(option);
  } finally {
    await cluster.stop();
  }
});
