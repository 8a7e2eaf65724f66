import {
  getBase64Decoder,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
} from "@solana/kit";
import type {
  ActionGetResponse,
  ActionPostRequest,
  TransactionResponse,
} from "@solana/actions-spec";
import type { LocalKey } from "../../../adapters/local-ledger/genesis/local-keys.ts";

/** The address that links name, and where it leads: what DNS and a reverse proxy do elsewhere. */
type Proxy = { readonly publicUrl: string; readonly serviceUrl: string };

/** An answer that is no success, with the text that a wallet shows. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** The HTTPS address of a link. @throws Error where the specifications have a wallet reject it as malformed. */
const addressOf = (link: string): URL => {
  const [, encoded = ""] = /^(?:solana|solana-action):(.*)$/.exec(link) ?? [];
  const url = new URL(decodeURIComponent(encoded));
  if (url.protocol !== "https:") throw new Error(`malformed: ${url.href} is not HTTPS`);
  return url;
};

/**
 * A wallet as Solana Pay and Solana Actions describe it, with a test key: it follows links to `publicUrl` only, puts
 * the latest blockhash into a transaction without signatures, and signs one that nobody else must sign.
 */
export const testWallet = (key: LocalKey, { publicUrl, serviceUrl }: Proxy) => {
  const ask = async <A>(url: URL, init?: RequestInit): Promise<A> => {
    if (url.origin !== publicUrl) throw new Error(`${url.origin} is not ${publicUrl}`);
    const response = await fetch(`${serviceUrl}${url.pathname}${url.search}`, init);
    const body = (await response.json()) as A & { readonly message: string };
    if (!response.ok) throw new Refused(response.status, body.message);
    return body;
  };

  /** What the wallet shows of a link. */
  const show = (link: string): Promise<ActionGetResponse> => ask(addressOf(link));

  /** An unsigned transaction under another blockhash, signed. @throws Error where somebody else must sign it too. */
  const signed = (transaction: string, latestBlockhash: string): string => {
    const { messageBytes, signatures } = getTransactionDecoder().decode(
      Buffer.from(transaction, "base64"),
    );
    const [signer, ...others] = Object.keys(signatures);
    if (signer !== key.address || others.length > 0) throw new Error("malicious: others must sign");
    const compiled = getCompiledTransactionMessageDecoder().decode(messageBytes);
    const message = new Uint8Array(
      getCompiledTransactionMessageEncoder().encode({
        ...compiled,
        lifetimeToken: latestBlockhash,
      }),
    );
    return getBase64Decoder().decode(Uint8Array.of(1, ...key.sign(message), ...message));
  };

  /** The transaction of a link, signed, and what the wallet shows of it. */
  const sign = async (link: string, latestBlockhash: string) => {
    const request: ActionPostRequest = { account: key.address };
    const { transaction, message = "" } = await ask<TransactionResponse>(addressOf(link), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
    });
    return { message, signedTransaction: signed(transaction, latestBlockhash) };
  };

  return { address: key.address, show, signed, sign };
};
