import { Effect } from "effect";
import { IndexReader } from "../../../ports/index/index-reader.ts";
import { type Address, parseAddress } from "../../domain/address.ts";
import { type Hash32, parseHash32 } from "../../domain/hash32.ts";
import { type LedgerSignature, parseLedgerSignature } from "../../domain/ledger/signature.ts";
import { nameKey } from "../../domain/merchant/merchant-search.ts";
import { parseWhole } from "../../log/text-values.ts";
import { SettledEvidence } from "../evidence/settled-evidence.ts";
import { SettlementLog } from "../log/serving/published-log.ts";

/** What a text that is looked for can be; names are stable. */
export const SEARCH_FORMS = ["address", "signature", "hash", "log_position", "name"] as const;
type SearchForm = (typeof SEARCH_FORMS)[number];

/** What a search finds; names are stable. */
export const MATCH_KINDS = ["escrow", "wallet", "merchant", "transaction", "log_leaf"] as const;

/** By what an escrow is found; names are stable. */
export const ESCROW_FOUND_BY = ["address", "task_hash", "proof_hash", "packet_digest"] as const;

/** One thing that a text names. */
export type SearchMatch =
  | {
      readonly kind: "escrow";
      readonly escrow: Address;
      readonly by: (typeof ESCROW_FOUND_BY)[number];
    }
  | { readonly kind: "wallet"; readonly wallet: Address }
  | {
      readonly kind: "merchant";
      readonly wallet: Address;
      readonly name: string;
      /** Whether the text is the merchant's address, or reads like its whole name. */
      readonly isExact: boolean;
    }
  /** Whether there is such a transaction is not looked up: the ledger's nodes know. */
  | { readonly kind: "transaction"; readonly signature: LedgerSignature }
  | { readonly kind: "log_leaf"; readonly index: number };

/** The most merchants of an answer, and the most escrows of a hash. */
export const MOST_MATCHES = 20;

const merchantsOf = Effect.fnUntraced(function* (text: string, isAddress: boolean) {
  const index = yield* IndexReader;
  const entries = yield* index.merchants({ text }, MOST_MATCHES, null);
  const wanted = nameKey(text);
  return entries.map(({ merchant: { wallet, name } }): SearchMatch => ({
    kind: "merchant",
    wallet,
    name,
    isExact: isAddress || nameKey(name) === wanted,
  }));
});

const ofAddress = Effect.fnUntraced(function* (address: Address) {
  const index = yield* IndexReader;
  const { escrows, unseen } = yield* index.escrowsAt([address]);
  const escrow = escrows[0]?.address ?? unseen[0]?.address;
  if (escrow !== undefined) return [{ kind: "escrow", escrow, by: "address" }] as const;
  const paid = yield* index.escrows({ agentOwner: address }, 1, null);
  const wallets: ReadonlyArray<SearchMatch> =
    paid.length === 0 ? [] : [{ kind: "wallet", wallet: address }];
  return [...wallets, ...(yield* merchantsOf(address, true))];
});

const ofHash = Effect.fnUntraced(function* (hash: Hash32) {
  const index = yield* IndexReader;
  const escrows = yield* index.escrowsOfHash(hash, MOST_MATCHES);
  const packet = yield* (yield* SettledEvidence).escrowOf(hash);
  const matches = escrows.map(({ address, taskHash }): SearchMatch => ({
    kind: "escrow",
    escrow: address,
    by: taskHash === hash ? "task_hash" : "proof_hash",
  }));
  return packet === null
    ? matches
    : [...matches, { kind: "escrow", escrow: packet, by: "packet_digest" } as const];
});

const ofPosition = Effect.fnUntraced(function* (index: number) {
  const size = (yield* (yield* SettlementLog).published)?.checkpoint?.size ?? 0;
  return index < size ? [{ kind: "log_leaf", index } as const] : [];
});

const understood = (form: SearchForm, matches: ReadonlyArray<SearchMatch> | null) => ({
  form,
  matches,
});

/**
 * What a text names: an escrow, wallet, merchant, transaction, hash, packet digest or log position, and how it was
 * understood. Null matches before the first sync. Of packets, those that this service has kept are looked through. Fails
 * like the store.
 */
export const search = Effect.fn("search")(function* (text: string) {
  const asked = text.trim();
  const signature = parseLedgerSignature(asked);
  if (signature !== undefined) return understood("signature", [{ kind: "transaction", signature }]);
  const position = parseWhole(asked);
  if (position !== undefined) return understood("log_position", yield* ofPosition(position));
  const { mark } = yield* (yield* IndexReader).summary;
  const hash = parseHash32(asked.toLowerCase().replace(/^(sha256:|0x)/, ""));
  const address = parseAddress(asked);
  const form = hash !== undefined ? "hash" : address !== undefined ? "address" : "name";
  if (mark === null) return understood(form, null);
  if (hash !== undefined) return understood(form, yield* ofHash(hash));
  if (address !== undefined) return understood(form, yield* ofAddress(address));
  return understood(form, asked === "" ? [] : yield* merchantsOf(asked, false));
});
