import type { Static } from "@sinclair/typebox";
import { formatUnits } from "../../../../core/domain/amount.ts";
import { parseAddress } from "../../../../core/domain/address.ts";
import { decodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { parseTrustPolicy } from "../../../../core/protocol/evidence/trust-policy.ts";
import {
  instructionWords,
  type KnownPlace,
} from "../../../../core/protocol/rules/transaction-words.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import type { Cost, UnsignedTransaction } from "../../escrow/prepare/prepared-call-contract.ts";
import { assetPath } from "../shell/assets.ts";
import { html, type Html, sentence } from "../shell/html.ts";
import { codeBlock, facts, key, notice } from "../shell/parts.ts";

/** What a reader of transactions knows by the service's trust document; null for one that cannot be read. */
export const placeIn = (trust: object): KnownPlace | null => {
  const policy = parseTrustPolicy(JSON.stringify(trust));
  if (!("value" in policy)) return null;
  const { supportedMints } = policy.value;
  const custodyProgram = parseAddress(policy.value.custodyProgram);
  const attestorProgram = parseAddress(policy.value.attestorProgram);
  return custodyProgram === undefined || attestorProgram === undefined
    ? null
    : { deployment: { custodyProgram, attestorProgram }, supportedMints };
};

const SOL_DECIMALS = 9;
const sol = (lamports: bigint): Html =>
  html`<span class="money">${formatUnits(lamports, SOL_DECIMALS)}</span> SOL`;

/** What sending it costs, and what of that comes back. */
export const costParts = (cost: Static<typeof Cost>): Html => {
  const deposits = cost.deposits.reduce((sum, { lamports }) => sum + BigInt(lamports), 0n);
  return facts([
    ["Fee", sol(BigInt(cost.fee))],
    ["Rent of new accounts", sol(deposits)],
    ["Back when it is settled", sol(BigInt(cost.returned_at_settlement))],
    ["Back when it is archived", sol(BigInt(cost.returned_at_archiving))],
    ["Never back", sol(BigInt(cost.kept))],
  ]);
};

/** The sentences of a transaction; null for bytes that are none. */
const wordsOf = (base64: string, place: KnownPlace): ReadonlyArray<string> | null => {
  const decoded = decodeWireTransaction(decodeBase64(base64) ?? new Uint8Array());
  return "value" in decoded ? instructionWords(decoded.value, place) : null;
};

/**
 * A transaction in sentences, its bytes, and the wallets that can sign it. The page's script signs what it decodes to
 * these very sentences and nothing else: `does` says what it does.
 */
export const transactionParts = (
  transaction: Static<typeof UnsignedTransaction>,
  place: KnownPlace,
  does: string,
): Html => {
  const words = wordsOf(transaction.base64, place);
  if (words === null) return notice("bad", "What was prepared is no transaction. Do not sign it.");
  return html`<ol class="words" id="words">
      ${words.map((each) => html`<li>${sentence(each)}</li>`)}
    </ol>
    ${facts([
      ["Must sign", transaction.signers.map((signer) => html`${key(signer)} `)],
      ["Lands up to block", transaction.last_valid_block_height],
    ])}
    <details>
      <summary>Its bytes</summary>
      ${codeBlock("Unsigned, base64", transaction.base64)}
    </details>
    <h2>Sign with a wallet</h2>
    ${walletPanel(does, `Only a transaction that this page itself builds from what is above, and whose sentences are these, goes to the wallet. The script that does so comes from this service: who must not trust it uses the client package.`)}`;
};

/** Where the page's script lists the wallets of this browser. */
export const walletPanel = (does: string, note: string): Html =>
  html`<div id="wallet" data-does="${does}" data-signs="${assetPath("sign.js")}">
      <p class="empty">Wallets of this browser are listed here, when scripts run.</p>
    </div>
    <ol id="told" class="told" aria-live="polite"></ol>
    <p class="note">${sentence(note)}</p>`;
