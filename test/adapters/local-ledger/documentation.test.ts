import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { localGenesis } from "../../../adapters/local-ledger/genesis/genesis.ts";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { rpcMethods } from "../../../adapters/local-ledger/rpc/methods/methods.ts";
import { subscriptionChannels } from "../../../adapters/local-ledger/rpc/subscriptions/subscriptions.ts";
import { decodeMerchantAccount } from "../../../core/protocol/accounts/merchant-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { decodeSanitizedTransaction } from "../../../core/protocol/transaction/wire-transaction.ts";
import { address } from "../../../core/domain/address.ts";
import { call, startLedger } from "./ledger-fixture.ts";

const DOCUMENT = readFileSync(new URL("../../../docs/local-ledger.md", import.meta.url), "utf8");
const LOCAL = "http://127.0.0.1:8899";

const { rpc, url, stop, ledger } = startLedger({ genesis: localGenesis({ demo: true }) });
afterAll(stop);

/** The table rows that follow a line of the document, as lists of cells. */
const tableAfter = (line: string): ReadonlyArray<ReadonlyArray<string>> => {
  const from = DOCUMENT.indexOf(line);
  if (from < 0) throw new Error(`the document has no line: ${line}`);
  const [table = ""] = /(?:^\|.*\n)+/m.exec(DOCUMENT.slice(from)) ?? [];
  const rows = table.trim().split("\n").slice(2);
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};
const codesOf = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? "");
const methodsAfter = (line: string) =>
  tableAfter(line)
    .flatMap(([, names]) => codesOf(names ?? ""))
    .filter((name) => name !== "Unsubscribe");

/** What Agave's traits serve (`rpc/src/rpc.rs`) and its subscriptions (`rpc/src/rpc_pubsub.rs`). */
const AGAVE =
  `getAccountInfo getBalance getBlock getBlockCommitment getBlockHeight getBlockProduction getBlockTime getBlocks
  getBlocksWithLimit getClusterNodes getEpochInfo getEpochSchedule getFeeForMessage getFirstAvailableBlock getGenesisHash getHealth
  getHighestSnapshotSlot getIdentity getInflationGovernor getInflationRate getInflationReward getLargestAccounts getLatestBlockhash
  getLeaderSchedule getMaxRetransmitSlot getMaxShredInsertSlot getMinimumBalanceForRentExemption getMultipleAccounts
  getProgramAccounts getRecentPerformanceSamples getRecentPrioritizationFees getSignatureStatuses getSignaturesForAddress getSlot
  getSlotLeader getSlotLeaders getStakeMinimumDelegation getSupply getTokenAccountBalance getTokenAccountsByDelegate
  getTokenAccountsByOwner getTokenLargestAccounts getTokenSupply getTransaction getTransactionCount getVersion getVoteAccounts
  isBlockhashValid minimumLedgerSlot requestAirdrop sendTransaction simulateTransaction accountSubscribe blockSubscribe
  logsSubscribe programSubscribe rootSubscribe signatureSubscribe slotSubscribe slotsUpdatesSubscribe voteSubscribe`.split(
    /\s+/,
  );

describe("the lists of methods", () => {
  const present = methodsAfter("These methods are present:");
  const leftOut = methodsAfter("These methods of Agave are left out");

  test("what is present is what the ledger serves", () => {
    const served = [
      ...rpcMethods(ledger, { holdUntilConfirmed: () => undefined }).keys(),
      ...Object.keys(subscriptionChannels(ledger)).map((name) => `${name}Subscribe`),
    ];
    expect(present.toSorted()).toEqual(served.toSorted());
  });

  test("the methods left out are the rest of Agave's, and calls of them fail as unknown methods", async () => {
    const own = ["requestTokenAirdrop"];
    expect([...present, ...leftOut].toSorted()).toEqual([...AGAVE, ...own].toSorted());
    for (const method of leftOut)
      expect((await call(url, method)).error).toEqual({
        code: -32601,
        message: "Method not found",
      });
  });
});

describe("the faucet's example", () => {
  const answers: Array<{ id: number; result?: unknown; error?: unknown }> = [];
  const commands = DOCUMENT.split("\n").filter((line) => line.startsWith("    curl "));

  beforeAll(async () => {
    for (const command of commands) {
      // The words of the command, after the shell has taken the quotes off.
      const words = Array.from(command.matchAll(/'([^']*)'|(\S+)/g), (m) => m[1] ?? m[2] ?? "");
      expect(words.slice(0, 4)).toEqual(["curl", "-s", LOCAL, "-d"]);
      const body = words[4] ?? "";
      // By default curl sends the content type of a form. The ledger must accept it.
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const response = await fetch(words[2]?.replace(LOCAL, url) ?? "", {
        method: "POST",
        body,
        headers,
      });
      answers.push((await response.json()) as (typeof answers)[number]);
    }
  });

  test("gives out the stated amounts, and shows them", () => {
    expect(answers.map(({ id, error }) => [id, error])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
    ]);
    // The demo agent began with 1,000 USDC, of which two escrows took 12.5 and 20.
    expect(answers[2]?.result).toMatchObject({
      value: [
        {
          account: {
            data: { parsed: { info: { tokenAmount: { uiAmountString: "992.5", decimals: 6 } } } },
          },
        },
      ],
    });
  });
});

describe("the table of local keys", () => {
  const rows = tableAfter("## The local keys").map(([label = "", key = ""]) => ({
    label: codesOf(label)[0] ?? "",
    key: codesOf(key)[0] ?? "",
  }));

  test("each address is that of its label", () => {
    expect(rows.length).toBeGreaterThan(0);
    for (const { label, key } of rows)
      expect([label, localKey(label).address]).toEqual([label, key as never]);
  });

  test("it holds every key that has signed on a new ledger, and every attestor", async () => {
    const signers = new Set<string>();
    for (const { slot } of await rpc.getRecentPrioritizationFees().send()) {
      for (const { wire } of ledger.log.ofSlot(Number(slot))) {
        const decoded = decodeSanitizedTransaction(wire);
        if ("malformed" in decoded) throw new Error(decoded.malformed);
        const { staticAccounts, signerCount } = decoded.value;
        for (const signer of staticAccounts.slice(0, signerCount)) signers.add(signer);
      }
    }
    const merchants = await rpc
      .getProgramAccounts(LOCAL_DEPLOYMENT.attestorProgram, { encoding: "base64" })
      .send();
    for (const { pubkey, account } of merchants) {
      const decoded = decodeMerchantAccount(
        {
          ...account,
          address: address(pubkey),
          owner: address(account.owner),
          data: new Uint8Array(Buffer.from(account.data[0], "base64")),
        },
        LOCAL_DEPLOYMENT,
      );
      if ("value" in decoded) signers.add(decoded.value.attestor);
    }
    expect(rows.map(({ key }) => key).toSorted()).toEqual([...signers].toSorted());
  });
});
