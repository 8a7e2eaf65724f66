import { type Static, Type } from "@sinclair/typebox";
import { projectCommand } from "../../../../core/domain/project-command.ts";
import { assetPath } from "../shell/assets.ts";
import { html, type Html } from "../shell/html.ts";
import { codeBlock, notice, tabs, wholeKey } from "../shell/parts.ts";
import type { Screen } from "../shell/screen.ts";
import { receiptHash } from "./receipt-template.ts";

const QUERY = Type.Object(
  { escrow: Type.Optional(Type.String({ maxLength: 64 })) },
  { additionalProperties: false },
);

/** The commands that do the same without this page. */
const commands = (origin: string, escrow: string | undefined): Html => {
  const packet =
    escrow === undefined
      ? ""
      : `curl -s '${origin}/v1/evidence/${encodeURIComponent(escrow)}' > packet.json\n`;
  return html`${codeBlock(
    "With the client package, in Node or Bun",
    `${packet}npx --no-install settlement-evidence verify packet.json --trust trust.json`,
  )}
  ${codeBlock(
    "From the repository, with a node of your choice",
    `${packet}${projectCommand("cli verify packet.json --trust trust.json --rpc URL")}`,
  )}`;
};

/** `/verify`: judges documents in the reader's browser. `?escrow=` loads that escrow's packet. */
export const verifyScreen: Screen = {
  path: "/verify",
  query: QUERY,
  show: async ({ query, origin }) => {
    const { escrow } = query as Static<typeof QUERY>;
    const hash = await receiptHash();
    return {
      title: "Verify",
      scripts: ["verify.js"],
      body: html`<h1>Verify</h1>
        <p class="lead">
          Give a packet, a payload, a trust document, a proof of the log or the evidence of a call,
          in any order. Everything is judged in this browser; nothing is uploaded.
        </p>
        <div id="unscripted">
          ${notice(
            "warn",
            "The verifier of this page is a script, which does not run here. The commands below do the same.",
          )}
        </div>
        <div
          id="verifier"
          data-escrow="${escrow}"
          data-verdict="${assetPath("verdict.js")}"
          data-template="${assetPath("receipt.html")}"
          hidden
        >
          <div id="verdict" role="status" aria-live="polite"></div>
          <div id="drop" class="drop">
            <p>
              <label for="files">Drop files here, or choose them</label>
              <input id="files" type="file" multiple />
            </p>
            <p>
              <label for="pasted">Or paste one</label>
              <textarea id="pasted" rows="4" spellcheck="false" autocomplete="off"></textarea>
            </p>
            <p class="tries">
              <button type="button" id="add">Add what was pasted</button>
              <button type="button" id="own-trust">Use this service's own trust document</button>
              <button type="button" id="save" class="main" disabled>Save as one file</button>
            </p>
          </div>
          <p id="trouble" role="alert"></p>
          <div id="given"><p class="empty">Nothing was given yet.</p></div>
        </div>
        ${notice(
          "warn",
          html`This page and its script come from the service whose evidence you test: a service
          that lies can show any verdict here. What convinces is a verifier and a trust document
          that you obtained elsewhere.`,
        )}
        ${tabs("verify", [
          { name: "From a command line", body: commands(origin, escrow) },
          {
            name: "A receipt that checks itself",
            body: html`<p>
                “Save as one file” makes a page that holds the documents and the verifier, and works
                from disk without network. Its fixed part is the same in every receipt of this
                version, and has this SHA-256, which a release states and
                <code>${projectCommand("build")}</code> prints:
              </p>
              <p>${wholeKey(hash)}</p>
              ${escrow !== undefined && html`<p><a href="/receipts/${encodeURIComponent(escrow)}">Save the receipt of this escrow</a>, with the service's own trust document.</p>`}`,
          },
        ])}`,
    };
  },
};
