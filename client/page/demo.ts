import { ed25519 } from "@noble/curves/ed25519.js";
import { addressFromBytes } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import { formatUnixTime } from "../../core/domain/unix-time.ts";
import { connect } from "../connect.ts";
import type { LiveEscrow } from "../generated/contract.ts";
import { connectMerchant } from "../merchant/connect-merchant.ts";
import { memoryAttestations } from "../merchant/settle/attestation-journal.ts";
import { policyIn } from "../pinned-policy.ts";
import { dataBy } from "../service/operation.ts";
import { requestsTo } from "../service/requests.ts";
import { type MessageSigner, transactionSignerOf } from "../signing/sign-transaction.ts";
import { servedTrust } from "./served-trust.ts";
import { failureText, tellIn, type Told } from "./told.ts";

// The demo of the home page on a local ledger: one payment, released or refunded, signed in the page with keys that
// everybody knows.

const utf8 = new TextEncoder();

/** A key of the local ledger. Its seed is the SHA-256 of a public label, so everyone knows it. */
const demoKey = (label: string): MessageSigner => {
  const seed = sha256(utf8.encode(`settlement-evidence/local/${label}`));
  return {
    publicKey: addressFromBytes(ed25519.getPublicKey(seed)),
    sign: (message) => Promise.resolve(ed25519.sign(message, seed)),
  };
};

const TASK = "GET /quotes";
const ANSWER = '{"symbol":"SOL","price":"187.42"}';
const TEMPLATE = "api-delivered-v1";
const RELEASED = { amount: "1.50", ttl: 3600 };
/** So short that waiting for its end is no burden. */
const REFUNDED = { amount: "2.50", ttl: 2 };
const POLL_MS = 500;

const stage = async (tell: Told) => {
  const trust = await servedTrust();
  const url = location.origin;
  const requests = requestsTo(url);
  const [mint] = policyIn(trust).supportedMints;
  const [agent, merchant, attestor, passerBy] = [
    demoKey("agent/planner"),
    demoKey("merchant/forecast"),
    demoKey("attestor/forecast"),
    demoKey("agent/trader"),
  ];
  const escrowAt = (escrow: string): Promise<LiveEscrow> =>
    dataBy(requests, "GET /v1/escrows/{pda}", { pda: escrow });
  const buy = async ({ amount, ttl }: { readonly amount: string; readonly ttl: number }) => {
    tell(`The agent locks ${amount} for the merchant, with ${ttl} s to deliver.`);
    const { escrow, signature } = await connect(url, { trust }).pay({
      merchant: merchant.publicKey,
      amount,
      ttl,
      task: TASK,
      ...(mint === undefined ? {} : { mint: mint.address }),
      signer: transactionSignerOf(agent),
    });
    tell("Paid into escrow.", [
      [escrow, `/escrows/${escrow}`],
      ...(signature === null ? [] : [["its transaction", `/transactions/${signature}`] as const]),
    ]);
    return escrowAt(escrow);
  };
  return { trust, url, requests, merchant, attestor, passerBy, escrowAt, buy };
};

type Stage = Awaited<ReturnType<typeof stage>>;

const release = async ({ trust, url, merchant, attestor }: Stage, paid: LiveEscrow, tell: Told) => {
  const shop = connectMerchant(url, { trust });
  tell("The merchant delivers, and its attestor signs the hash of what was delivered.");
  const attestation = await shop.attest({
    escrow: paid.escrow_pda,
    payload: {
      proof_template_id: TEMPLATE,
      task_hash: paid.task_hash,
      request_url: "https://api.example.com/v1/quotes?symbol=SOL",
      status_code: 200,
      content_sha256: hash32FromBytes(sha256(utf8.encode(ANSWER))),
      delivered_at: formatUnixTime(BigInt(Math.floor(Date.now() / 1000))),
    },
    template: TEMPLATE,
    attestor,
    journal: memoryAttestations(),
  });
  const { signature } = await shop.release({ attestation, payer: merchant });
  return { signature, word: "Released: the merchant has the money." };
};

const refund = async (
  { trust, url, requests, passerBy, escrowAt }: Stage,
  paid: LiveEscrow,
  tell: Told,
) => {
  const end = paid.expires_at.replace("T", " ").replace("Z", " UTC");
  tell(`Nobody delivers. It ends at ${end} by the ledger's clock.`);
  while (!(await escrowAt(paid.escrow_pda)).refundable) await requests.clock.pause(POLL_MS);
  tell("It ended. A passer-by sends the money back to the agent.");
  const { signature } = await connect(url, { trust }).refund(paid.escrow_pda, {
    signer: transactionSignerOf(passerBy),
  });
  return { signature, word: "Refunded: the agent has its money again." };
};

/** Runs the demo that a button of the page names, and tells its steps in the list with the id `demo`. Never rejects. */
export const run = async ({ dataset }: HTMLElement): Promise<void> => {
  const list = document.getElementById("demo");
  if (list === null) return;
  list.replaceChildren();
  const tell = tellIn(list);
  try {
    const set = await stage(tell);
    const isReleased = dataset["ends"] === "release";
    const paid = await set.buy(isReleased ? RELEASED : REFUNDED);
    const { signature, word } = await (isReleased ? release : refund)(set, paid, tell);
    tell(word, [
      ["The escrow", `/escrows/${paid.escrow_pda}`],
      ...(signature === null ? [] : [["the transaction", `/transactions/${signature}`] as const]),
    ]);
  } catch (cause) {
    tell(`The demo stopped. ${failureText(cause)}`);
  }
};
