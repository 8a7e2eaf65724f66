import { expect, test } from "bun:test";
import { localKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { connect } from "../../../client/connect.ts";
import { connectMerchant } from "../../../client/merchant.ts";
import { keySigner } from "../../../client/node/key-file.ts";
import { memorySessionJournal } from "../../../client/sessions/agent/memory-journal.ts";
import { memorySessions, sessionSeller } from "../../../client/sessions.ts";
import type { SettlementError } from "../../../client/settlement-error.ts";
import { agentKey, payerKey, sellerFixture, signerOf } from "./seller-fixture.ts";

// A release, which carries two signatures, has no room to make the account.
test("a merchant without a token account is paid: a capture makes it before the release", async () => {
  const fixture = await sellerFixture();
  const { trust, rpc } = fixture;
  const [wallet, attestor] = [localKey("merchant/new"), localKey("attestor/new")];
  await connectMerchant(fixture.service.url, { trust }).register({
    wallet: signerOf(wallet),
    payer: signerOf(payerKey),
    attestor: attestor.address,
    name: "new",
  });
  const problems: Array<SettlementError> = [];
  const seller = sessionSeller({
    service: fixture.service.url,
    trust,
    rpc,
    merchant: wallet.address,
    attestor: signerOf(attestor),
    payer: signerOf(payerKey),
    store: memorySessions(),
    webSocket: null,
    onProblem: (problem) => void problems.push(problem),
  });
  try {
    const session = await connect(fixture.service.url, { trust, rpc }).session({
      merchant: wallet.address,
      budget: "1.00",
      ttl: 3600,
      signer: keySigner(agentKey.seed),
      journal: memorySessionJournal(),
      fetch: (url, init) =>
        seller.handle(new Request(url, init), "0.01", () => Response.json({ quote: "1.50" })),
    });
    await session.call("http://127.0.0.1/quotes", { limit: "0.01" });
    const ended = await session.close();
    expect(problems.map(({ message }) => message)).toEqual([]);
    expect(ended).toMatchObject({ outcome: "settled", used: "10000", refusal: null });
  } finally {
    await seller.close();
    await fixture.stop();
  }
}, 180_000);
