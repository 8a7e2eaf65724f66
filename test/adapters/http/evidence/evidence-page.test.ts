import { escapeForeign } from "../../../../adapters/http/pages/shell/escape.ts";
import { createHash } from "node:crypto";
import { describe, expect, test } from "bun:test";
import { evidenceExample } from "../../../../adapters/http/evidence/evidence-contract.ts";
import { evidencePage } from "../../../../adapters/http/pages/evidence-page/evidence-page.ts";
import { escrow, EXPIRES_AT, merchant } from "../support/parties.ts";
import { scanQrCode } from "../support/scan-qr-code.ts";
import { checkedClient, jsonOf, makeService } from "../support/service.ts";
import { standing } from "../support/standing-service.ts";

/** The Accept header that browsers send for a page. */
const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
const NAME = `<img src=x onerror="a('b')">&`;

const released = escrow("released", "Fulfilled");
const partial = escrow("partial", "PartiallyFulfilled");
const refunded = escrow("refunded", "Refunded");
const pending = escrow("pending");

const { service, client } = await standing();
service.seed({
  escrows: [released, partial, refunded, pending],
  merchants: [{ ...merchant(), name: NAME }],
});

const get = (row: { readonly address: string }, accept?: string, more = "", etag?: string) =>
  client.send(`/v1/evidence/${row.address}${more}`, {
    headers: {
      ...(accept === undefined ? {} : { accept }),
      ...(etag === undefined ? {} : { "if-none-match": etag }),
    },
  });
const pageOf = async (row: { readonly address: string }) => (await get(row, BROWSER)).text();
/** A page's text without its tags, with one space where it has any. */
const textIn = (page: string): string =>
  page.replace(/<style>[^]*?<\/style>|<[^>]*>/g, "").replace(/\s+/g, " ");
const textOf = async (row: { readonly address: string }) => textIn(await pageOf(row));

describe("content negotiation", () => {
  test("a browser gets a page, everyone else the packet, and the answer varies by Accept", async () => {
    for (const [accept, type] of [
      [BROWSER, "text/html; charset=utf-8"],
      ["text/html", "text/html; charset=utf-8"],
      ["*/*", "application/json"],
      [undefined, "application/json"],
      ["application/json", "application/json"],
      ["application/json, text/html;q=0.9", "application/json"],
    ] as const) {
      const response = await get(released, accept);
      expect([accept, response.status, response.headers.get("content-type")]).toEqual([
        accept,
        200,
        type,
      ]);
      expect(response.headers.get("vary")).toContain("accept");
    }
    expect((await get(released, "image/png")).status).toBe(406);
  });
});

describe("the page", () => {
  test("a proof of the log is named, and what its witnesses show is said", () => {
    const packet = evidenceExample();
    const textWith = (log: typeof packet.references.log) =>
      evidencePage(
        { ...packet, references: { ...packet.references, log } },
        { origin: "http://x", publicUrl: null, supportedMints: [] },
      ).html.replace(/\s+/g, " ");
    const origin = "example.com/log/0123456789abcdef/0";
    const [without, logged] = [
      textWith(null),
      textWith({ origin, index: 2, proof: "c2sp.org/tlog-proof@v1" }),
    ];
    expect(without).toContain("An offline check cannot show that the ledger has the account");
    expect(without).not.toContain("In the log");
    expect(logged).toContain(`<code>${origin}</code>, leaf 2`);
    expect(logged).toContain(
      "is witnessed where <code>log_on_ledger</code> of your trust document names",
    );
  });

  test("it runs and loads nothing, and the policy allows only its own style", async () => {
    for (const row of [released, partial, refunded, pending]) {
      const response = await get(row, BROWSER);
      const html = await response.text();
      const style = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? "";
      const hash = createHash("sha256").update(style).digest("base64");
      const policy = response.headers.get("content-security-policy");
      const etag = response.headers.get("etag");
      if (etag !== null) {
        const unchanged = await get(row, BROWSER, "", etag);
        expect([unchanged.status, unchanged.headers.get("content-security-policy")]).toEqual([
          304,
          policy,
        ]);
      }
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain(`style-src 'sha256-${hash}'`);
      expect(policy).not.toContain("script-src");
      expect(html).not.toMatch(
        /<script|<img|<iframe|<object|<embed|<form|<base|<[^>]*\s(?:on\w+|style)=/i,
      );
      const links = Array.from(html.matchAll(/(?:href|src)="([^"]*)"/g), ([, link]) => link);
      const own = `http://localhost/v1/evidence/${row.address}?download=json`;
      expect(links).toEqual(["data:,", own]);
      expect(style).not.toMatch(/url\(|@import/);
    }
  });

  test("text from outside is escaped, never interpreted", async () => {
    const html = await pageOf(released);
    expect(html).toContain("&lt;img src=x onerror=&quot;a(&#39;b&#39;)&quot;&gt;&amp;, Active");
    // A merchant's name cannot hold such a character, but other texts from outside can.
    expect(escapeForeign("a\u202e\u001b<")).toBe("a[U+202E][U+001B]&lt;");
    // Lines that end where the text does not, and characters without width.
    expect(escapeForeign("a\u2028b\u200bc\u{e0041}d\ufeff")).toBe(
      "a[U+2028]b[U+200B]c[U+E0041]d[U+FEFF]",
    );
    // Persian, Hindi and emoji need these joiners and selectors.
    expect(escapeForeign("\u0645\u06cc\u200c\u062e \u2764\ufe0f")).toBe(
      "\u0645\u06cc\u200c\u062e \u2764\ufe0f",
    );
  });

  test("amounts of an unlisted mint are base units without a currency", async () => {
    const listed = await textOf(partial);
    expect(listed).toContain("In base units 1500000 escrowed, 1 to the merchant, 1499999 back");
    const other = await makeService({ instance: { supportedMints: [] } });
    other.seed({ escrows: [released, partial] });
    const { send } = await checkedClient(other);
    const path = `/v1/evidence/${partial.address}`;
    const html = await (await send(path, { headers: { accept: BROWSER } })).text();
    const packet = await (await send(path)).text();
    await other.runtime.dispose();
    expect(textIn(html)).toContain("1500000 base units of a token that is not listed");
    expect(html).not.toContain("USDC");
    expect(html).not.toContain("1.500000");
    // The signed data does not depend on the list.
    const { data } = JSON.parse(packet) as { data: object };
    expect(data).toEqual((await jsonOf<{ data: object }>(await get(partial))).data);
  });

  test("an expired escrow's page has a code that another library reads, only with a public address", async () => {
    service.ledger.setClock(EXPIRES_AT);
    const label = "QR code that runs the refund";
    const without = await pageOf(pending);
    expect(without).not.toContain(label);
    expect(without).toContain("No wallet link can be made: this service has no public address.");
    const other = await makeService({ publicUrl: "https://pay.example" });
    other.seed({ escrows: [pending, refunded] });
    const { send } = await checkedClient(other);
    const pageAt = async (address: string) =>
      (await send(`/v1/evidence/${address}`, { headers: { accept: BROWSER } })).text();
    expect(await pageAt(pending.address)).not.toContain("Run the refund");
    other.ledger.setClock(EXPIRES_AT);
    const html = await pageAt(pending.address);
    const link = `solana:https://pay.example/v1/actions/refund/${pending.address}`;
    expect(scanQrCode(html, label)).toBe(link);
    expect(scanQrCode(html, "QR code of the packet&#39;s address")).toBe(
      `http://localhost/v1/evidence/${pending.address}`,
    );
    expect(textIn(html)).toContain(
      `The whole 1.500000 USDC goes to the agent ${pending.agentOwner}, and the vault's rent to ${pending.rentPayer}, who paid it. Nothing goes to whoever runs it`,
    );
    expect(html).not.toMatch(/<script|<img|<iframe|<form|<[^>]*\s(?:on\w+|style)=/i);
    expect(await pageAt(refunded.address)).not.toContain("Run the refund");
    await other.runtime.dispose();
  });

  test("the QR code is a square of modules with its three finder patterns and a quiet zone", async () => {
    const html = await pageOf(released);
    const [, size, d] = /viewBox="0 0 (\d+) \1"[^]*?fill="#000" d="([^"]*)"/.exec(html) ?? [];
    const side = Number(size);
    const dark = new Set<string>();
    for (const [, x, y, width] of (d ?? "").matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
      for (let i = 0; i < Number(width); i++) dark.add(`${Number(x) + i},${y}`);
    expect((side - 8 - 17) % 4).toBe(0);
    const finder = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"];
    const at = (x0: number, y0: number) =>
      finder.map((row, y) =>
        Array.from(row, (_, x) => (dark.has(`${x0 + x},${y0 + y}`) ? "1" : "0")).join(""),
      );
    expect(at(4, 4)).toEqual(finder);
    expect(at(side - 11, 4)).toEqual(finder);
    expect(at(4, side - 11)).toEqual(finder);
    for (const place of dark)
      for (const coordinate of place.split(",").map(Number))
        expect(coordinate >= 4 && coordinate < side - 4).toBe(true);
  });
});
