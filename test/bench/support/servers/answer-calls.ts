import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256Bun } from "../../../../adapters/bun/sha256.ts";
import { ed25519Key } from "../../../../adapters/signer/ed25519-key.ts";
import { fileSessions } from "../../../../client/node/index.ts";
import { answerCall } from "../../../../client/sessions/seller/answer-call.ts";
import type { SellerContext } from "../../../../client/sessions/seller/seller-context.ts";
import type { KeptSession } from "../../../../client/sessions/store/session-store.ts";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { provideSha256 } from "../../../../core/domain/sha256.ts";
import { RECEIPT_HEADER } from "../../../../core/protocol/calls/call-receipt.ts";
import { VOUCHER_HEADER } from "../../../../core/protocol/calls/call-voucher.ts";
import { KEPT } from "../../../doubles/session-sides.ts";
import { voucherLine } from "../voucher-line.ts";

provideSha256(sha256Bun);

// Run as a process: makes argv[3] calls in eight sessions to a seller in this process, whose sessions are in the folder
// argv[2] with a journal of argv[4] bytes. Prints a line after a tenth of them and one at the end: the heap in use and
// the folder, in bytes.
const [folder = "", all = "0", journalBytes = "0"] = process.argv.slice(2);
const SESSIONS = 8;
const calls = Number(all) / SESSIONS;
const url = "https://api.example.com/quotes?symbol=SOL";
const seedOf = (number: number): Uint8Array => new Uint8Array(32).fill(number);
const attestor = ed25519Key(seedOf(100));
const store = await fileSessions(folder, { journalBytes: Number(journalBytes) });
await store.begin(() => Promise.resolve(0n));
const body = new TextEncoder().encode('{"symbol":"SOL","price":"1.50"}');
const answer = { status: 200, headers: [["content-type", "application/json"]], body } as const;

const sessionOf = (number: number): KeptSession => ({
  ...KEPT,
  escrow: addressFromBytes(ed25519.getPublicKey(seedOf(50 + number))),
  terms: hash32FromBytes(seedOf(number)),
  sessionKey: addressFromBytes(ed25519.getPublicKey(seedOf(number))),
  attestor: addressFromBytes(attestor.publicKey),
  amount: 2n ** 62n,
});

const sides = Array.from({ length: SESSIONS }, (_, at) => {
  const session = sessionOf(at + 1);
  const context: SellerContext = {
    store,
    view: { session: () => Promise.resolve({ session }) },
    attestor: {
      publicKey: session.attestor,
      sign: (message) => Promise.resolve(attestor.sign(message)),
    },
    clock: { nowMs: () => 1_772_366_500_000, pause: () => Promise.resolve() },
    onClosed: () => undefined,
  };
  return { context, next: voucherLine(session, seedOf(at + 1), { url, limit: 1n }) };
});

const call = async ({ context, next }: (typeof sides)[number]): Promise<void> => {
  const headers = new Headers({ [VOUCHER_HEADER]: next() });
  const request = { method: "GET", url, headers, body: new Uint8Array(), price: 1n };
  const response = await answerCall(context, request, () => Promise.resolve(answer));
  if (response?.headers.has(RECEIPT_HEADER) !== true)
    throw new Error(`no receipt: ${await response?.text()}`);
};

const tell = (): void => {
  const diskBytes = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  Bun.gc(true);
  const { heapUsed: heapBytes } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ heapBytes, diskBytes })}\n`);
};

const many = async (each: number): Promise<void> => {
  await Promise.all(
    sides.map(async (side) => {
      for (let made = 0; made < each; made++) await call(side);
    }),
  );
  tell();
};
await many(calls / 10);
await many(calls - calls / 10);
await store.stop();
