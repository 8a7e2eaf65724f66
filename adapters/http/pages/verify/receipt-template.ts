import { createHash } from "node:crypto";
import { projectCommand } from "../../../../core/domain/project-command.ts";
import { once } from "../../server/once.ts";
import { browserScript, consoleSheet } from "../shell/browser-script.ts";
import { html, type Html } from "../shell/html.ts";
import { codeBlock, notice } from "../shell/parts.ts";
import { BEFORE_DOCUMENTS } from "./receipt-data.ts";

/** What shows the SHA-256 of a receipt without the one line that holds its documents. */
const HASH_COMMAND = "sed '/^\\[{/d' receipt.html | sha256sum";

const sha256Base64 = (text: string): string => createHash("sha256").update(text).digest("base64");

/** What may not stand inside an element of script, spelt so that the script means the same. */
const insideScript = (script: string): string =>
  script.replaceAll(/<(\/script|!--)/gi, String.raw`<\$1`);

const body = (): Html =>
  html`<main id="main">
    <h1 id="title">A receipt that checks itself</h1>
    <p class="lead">
      <span id="holds">This file holds an evidence packet and the verifier.</span> It verifies by
      itself, on your machine: it asks nobody, and may not.
    </p>
    <div id="verdict" role="status">
      <p>The verifier is a script, which does not run here.</p>
    </div>
    <h2>Check documents of your own</h2>
    <p>
      <label for="own"
        >A trust document that you obtained beforehand, from someone you trust; a packet, a payload,
        a proof of the log, the evidence of a call. Each takes the place of one of its kind</label
      >
      <input id="own" type="file" multiple />
    </p>
    <p id="trouble" role="alert"></p>
    <h2>What is in this file</h2>
    <div id="given"></div>
    <h2>Whom to believe</h2>
    ${notice(
      "warn",
      html`Whoever gave you this file gave you its verifier too. The part without the documents is
        the same in every receipt of a release: compare its SHA-256 with the one that the release
        states and that <code>${projectCommand("build")}</code> prints.`,
    )}
    ${codeBlock("The SHA-256 of the fixed part", HASH_COMMAND)}
    <p>
      Or save the documents and judge them with the command line:
      <code>npx --no-install settlement-evidence verify packet.json --trust trust.json</code>.
    </p>
    <p id="save"></p>
  </main>`;

/**
 * Builds the fixed part of every receipt: a page without documents that loads nothing. By itself it is the verifier in
 * one file, for documents that its reader gives. Its policy names its own style
 * and script by their hashes, and allows no request. The same sources give the same bytes.
 */
export const buildReceiptTemplate = async (): Promise<string> => {
  const style = consoleSheet();
  const script = insideScript(await browserScript("../verify/receipt-page.ts"));
  const policy = `default-src 'none'; script-src 'sha256-${sha256Base64(script)}'; style-src 'sha256-${sha256Base64(style)}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="content-security-policy" content="${policy}">
<title>A receipt that checks itself</title>
<style>${style}</style>
</head>
<body>
${body().text}
<script type="application/json" ${BEFORE_DOCUMENTS}</script>
<script type="module">${script}</script>
</body>
</html>
`;
};

/** The fixed part of every receipt of this version, built at its first use. */
export const receiptTemplate = once(buildReceiptTemplate);

/** The SHA-256 of that part, 64 hex digits, which a release states. */
export const receiptHash = async (): Promise<string> =>
  createHash("sha256")
    .update(await receiptTemplate())
    .digest("hex");
