import { type Address, addressFromBytes } from "../../../../../core/domain/address.ts";
import { decodeBase64 } from "../../../../../core/domain/encoding/base64.ts";
import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../../../core/domain/ledger/signature.ts";
import type { Answer, TimedCall } from "./virtual-run.ts";

const SLOT_MS = 400;
const FIRST_SLOT = 10_000;
const BACKENDS = 8;
const FINALITY = 32;
/** Blocks for which a blockhash is valid. */
const BLOCKHASH_AGE = 150;

const numbered = (length: number, kind: number, n: number): Uint8Array => {
  const bytes = new Uint8Array(length).fill(kind);
  new DataView(bytes.buffer).setUint32(0, n);
  return bytes;
};
const PROGRAM = addressFromBytes(numbered(32, 7, 0));

/** The address of a simulated escrow. */
export const escrowAt = (n: number): Address => addressFromBytes(numbered(32, 5, n));

/** A legacy transaction of one signer that writes escrow `n`. */
export const transactionOn = (n: number, turn: number) => {
  const signature = numbered(64, 9, turn);
  const accounts = [numbered(32, 3, 1), numbered(32, 5, n), numbered(32, 7, 0)];
  const named = accounts.flatMap((each) => [...each]);
  const head = [1, ...signature, 1, 0, 1, accounts.length, ...named];
  const bytes = Uint8Array.from([...head, ...numbered(32, 8, 1), 1, 2, 1, 1, 0]);
  return { bytes, signature: ledgerSignatureFromBytes(signature) };
};

/**
 * One address before eight backends that lag 0 to `lag` slots behind the ledger, one drawn for each request. An escrow
 * is created by the first transaction that writes it and settled by the second.
 */
export class LaggingPool {
  /** The slots of each escrow's transactions. */
  readonly #written = new Map<number, Array<number>>();
  readonly #landed = new Map<string, number>();
  readonly #lag: number;
  readonly #random: () => number;

  constructor(lag: number, random: () => number) {
    this.#lag = lag;
    this.#random = random;
  }

  readonly answer = (call: TimedCall): Answer => {
    const { method, params, nowMs } = call;
    const newest = FIRST_SLOT + Math.floor(nowMs / SLOT_MS);
    const backend = Math.floor(this.#random() * BACKENDS);
    const processed = newest - Math.round((backend * this.#lag) / (BACKENDS - 1));
    const options = (params.find((one) => typeof one === "object" && !Array.isArray(one)) ??
      {}) as { readonly commitment?: string; readonly minContextSlot?: number };
    const slot = options.commitment === "finalized" ? processed - FINALITY : processed;
    if ((options.minContextSlot ?? 0) > slot)
      return { error: { code: -32_016, message: "Minimum context slot has not been reached" } };
    const atSlot = (value: unknown): Answer => ({ result: { context: { slot }, value } });
    switch (method) {
      case "getEpochInfo":
        return { result: { absoluteSlot: slot, blockHeight: slot - 500 } };
      case "getLatestBlockhash": {
        const blockhash = addressFromBytes(numbered(32, 8, slot));
        return atSlot({ blockhash, lastValidBlockHeight: slot - 500 + BLOCKHASH_AGE });
      }
      case "isBlockhashValid": {
        const made = Number(String(params[0]));
        return atSlot(made <= slot && slot <= made + BLOCKHASH_AGE);
      }
      case "getMultipleAccounts":
        return atSlot((params[0] as ReadonlyArray<Address>).map((one) => this.#account(one, slot)));
      case "sendTransaction":
        return { result: this.#land(String(params[0]), newest + 1) };
      case "getSignatureStatuses":
        return atSlot(
          (params[0] as ReadonlyArray<LedgerSignature>).map((one) => this.#status(one, slot)),
        );
      default:
        return { error: { code: -32_601, message: "Method not found" } };
    }
  };

  #account(address: Address, slot: number): unknown {
    for (const [n, written] of this.#written) {
      if (escrowAt(n) !== address) continue;
      const state = written.filter((at) => at <= slot).length;
      if (state === 0) return null;
      const data = [Buffer.from([state]).toString("base64"), "base64"];
      return { lamports: 1, owner: PROGRAM, executable: false, data, rentEpoch: 0, space: 1 };
    }
    return null;
  }

  #land(base64: string, slot: number): string {
    const bytes = decodeBase64(base64) ?? new Uint8Array(0);
    const signature = ledgerSignatureFromBytes(bytes.slice(1, 65));
    const n = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1 + 64 + 3 + 1 + 32);
    if (!this.#landed.has(signature)) {
      this.#landed.set(signature, slot);
      this.#written.set(n, [...(this.#written.get(n) ?? []), slot]);
    }
    return signature;
  }

  #status(signature: LedgerSignature, slot: number): unknown {
    const landed = this.#landed.get(signature);
    if (landed === undefined || landed > slot) return null;
    const isFinal = landed <= slot - FINALITY;
    return {
      slot: landed,
      confirmations: isFinal ? null : 1,
      err: null,
      status: { Ok: null },
      confirmationStatus: isFinal ? "finalized" : "confirmed",
    };
  }
}
