import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { judgeDocuments } from "../../../../../adapters/http/pages/verify/judge-documents.ts";
import { filledReceipt } from "../../../../../adapters/http/pages/verify/receipt-data.ts";
import {
  buildReceiptTemplate,
  receiptHash,
  receiptTemplate,
} from "../../../../../adapters/http/pages/verify/receipt-template.ts";
import { recognised } from "../../../../../adapters/http/pages/verify/recognise.ts";
import {
  documentsHtml,
  judgedHtml,
} from "../../../../../adapters/http/pages/verify/verdict-html.ts";
import { browserScript } from "../../../../../adapters/http/pages/shell/browser-script.ts";
import { CALL_CHECKS } from "../../../../../core/protocol/verification/verify-call.ts";
import { EVIDENCE_CHECKS } from "../../../../../core/protocol/verification/verify-evidence.ts";
import { escrow, merchant } from "../../support/parties.ts";
import { standing } from "../../support/standing-service.ts";
import { given, PACKET, recognisedAs, TRUST } from "./given-documents.ts";

const HOSTILE = `</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>`;

const { service } = await standing();
const paid = escrow("released", "Fulfilled");
service.seed({ escrows: [paid], merchants: [merchant()] });

const get = (path: string) =>
  service.app.handle(
    new Request(`http://localhost${path}`, { headers: { accept: "text/html,*/*;q=0.8" } }),
  );

/** A receipt without the one line that holds its documents, as the command on its page takes it out. */
const fixedPart = (receipt: string): string => receipt.replace(/^\[\{.*\n/m, "");

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

test("the page of /verify names its verifier, warns of itself, and has the commands for who runs no script", async () => {
  const answer = await get(`/verify?escrow=${paid.address}`);
  const page = await answer.text();
  expect(answer.status).toBe(200);
  expect(page).toContain(`data-escrow="${paid.address}"`);
  expect(page).toContain("come from the service whose evidence you test");
  expect(page).toContain(`curl -s &#39;http://localhost/v1/evidence/${paid.address}&#39;`);
  expect(page).toContain(`href="/receipts/${paid.address}"`);
  expect(page).toContain(await receiptHash());
  expect(page).not.toMatch(/<script[^>]*>[^<]/);
  const [, bundle = ""] = /data-verdict="([^"]+)"/.exec(page) ?? [];
  const [, template = ""] = /data-template="([^"]+)"/.exec(page) ?? [];
  const script = await (await get(bundle)).text();
  for (const name of [...EVIDENCE_CHECKS, ...CALL_CHECKS]) expect(script).toContain(name);
  expect(await (await get(template)).text()).toBe(await receiptTemplate());
  expect((await get("/assets/verify.0000000000000000.js")).status).toBe(404);
});

test("what a link to /verify carries is never markup", async () => {
  const hostile = encodeURIComponent(`"><script>alert(1)</script>`);
  const page = await (await get(`/verify?escrow=${hostile}`)).text();
  expect(page).not.toContain("<script>alert");
});

describe("a receipt", () => {
  test("is handed out for an escrow, with the service's own trust document named as such", async () => {
    const answer = await get(`/receipts/${paid.address}`);
    expect(answer.headers.get("content-disposition")).toBe(
      `attachment; filename="receipt-${paid.address}.html"`,
    );
    const receipt = await answer.text();
    const [line = "[]"] = /^\[\{.*$/m.exec(receipt) ?? [];
    const documents = (JSON.parse(line) as ReadonlyArray<ReturnType<typeof given>>).map(recognised);
    expect(documents.map(({ kind, service: from }) => [kind, from])).toEqual([
      ["packet", "http://localhost"],
      ["trust", "http://localhost"],
    ]);
    expect(judgeDocuments(documents).trustOf).toBe("http://localhost");
    expect(sha256(fixedPart(receipt))).toBe(await receiptHash());
  });

  test("of no escrow is a page with the problem", async () => {
    const answer = await get("/receipts/nonsense");
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain("/problems/invalid_address");
  });

  test("has the same fixed part in every build, also from another folder", async () => {
    const [one, two] = await Promise.all([buildReceiptTemplate(), buildReceiptTemplate()]);
    expect(one).toBe(two);
    const module = new URL(
      "../../../../../adapters/http/pages/verify/receipt-template.ts",
      import.meta.url,
    );
    const child = Bun.spawn(
      [
        process.execPath,
        "-e",
        `console.log(await (await import(${JSON.stringify(module.href)})).receiptHash())`,
      ],
      { cwd: "/", stdout: "pipe" },
    );
    expect((await new Response(child.stdout).text()).trim()).toBe(sha256(one));
    expect(await child.exited).toBe(0);
  });

  test("allows its own script and style by their hashes, and nothing else", async () => {
    const template = await receiptTemplate();
    const [, policy = ""] = /content-security-policy" content="([^"]+)"/.exec(template) ?? [];
    const hashOf = (pattern: RegExp): string =>
      createHash("sha256")
        .update(pattern.exec(template)?.[1] ?? "")
        .digest("base64");
    expect(policy.split("; ").sort()).toEqual([
      "base-uri 'none'",
      "default-src 'none'",
      "form-action 'none'",
      `script-src 'sha256-${hashOf(/<script type="module">([^]*?)<\/script>/)}'`,
      `style-src 'sha256-${hashOf(/<style>([^]*?)<\/style>/)}'`,
    ]);
    for (const name of [...EVIDENCE_CHECKS, ...CALL_CHECKS]) expect(template).toContain(name);
  });

  test("no document ends the element that holds it", async () => {
    const template = await receiptTemplate();
    const receipt = filledReceipt(template, [given(HOSTILE, HOSTILE), given("$&", "$`")]);
    expect(receipt.match(/<\/script/gi)).toHaveLength(2);
    const [line = ""] = /^\[\{.*$/m.exec(receipt) ?? [];
    expect(JSON.parse(line)).toEqual([given(HOSTILE, HOSTILE), given("$&", "$`")]);
    expect(fixedPart(receipt)).toBe(template);
  });

  test("its script can be inside a page", async () => {
    for (const entry of ["../verify/receipt-page.ts", "../verify/verify-page.ts"])
      expect(await browserScript(entry)).not.toMatch(/\bfrom"|require\(|node:/);
  });
});

describe("words", () => {
  test("failed, unproven and passed have tones of their own, and nobody's text is markup", () => {
    const shown = (...texts: ReadonlyArray<string>): string =>
      judgedHtml(judgeDocuments(recognisedAs(...texts))).text;
    expect(shown(PACKET, TRUST)).toMatch(/class="pill good"[^]*Verified/);
    expect(shown(PACKET, TRUST)).toMatch(/class="pill wait"[^<]*<span[^]*unproven/);
    expect(shown(PACKET)).toContain("nobody is trusted yet");
    expect(shown(PACKET)).toContain("Fulfilled, it says");
    expect(shown(PACKET, TRUST)).not.toContain("it says");
    expect(shown(PACKET)).toMatch(/Expires[^]*?<time[^>]*>[\d-]{10} [\d:]{8} UTC</);
    const failed = shown(PACKET.replace('"Fulfilled"', '"Refunded"'), TRUST);
    expect(failed).toMatch(/class="pill bad"[^]*Failed/);
    expect(failed).toContain("Do not rely on it");
    for (const text of [
      shown(JSON.stringify({ data: {}, signature: {}, [HOSTILE]: HOSTILE })),
      shown(PACKET, JSON.stringify({ jwks: {}, [HOSTILE]: HOSTILE })),
      documentsHtml([recognised(given(HOSTILE, "?"))], true).text,
    ])
      expect(text).not.toMatch(/<script|<img/);
  });
});
