import { transferLamports } from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import { LOCAL_FAUCET } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../adapters/local-ledger/genesis/signed-transaction.ts";
import type { AccountKind, LedgerAccount } from "../../core/domain/ledger/account.ts";
import { addressFromBytes } from "../../core/domain/address.ts";
import { ledgerSignatureFromBytes } from "../../core/domain/ledger/signature.ts";
import type { LedgerWorld } from "./ledger-world.ts";

/** Before the message are the signature count (one byte) and one signature. */
const MESSAGE_AT = 1 + 64;

const numbered = (kind: number, n: number) => {
  const bytes = new Uint8Array(32).fill(kind);
  new DataView(bytes.buffer).setUint32(8, n);
  return addressFromBytes(bytes);
};
const PROGRAM = numbered(101, 0);

const KIND: AccountKind = {
  program: PROGRAM,
  length: 150,
  discriminator: Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8),
};
const planted = (n: number, data: Uint8Array): LedgerAccount => ({
  address: numbered(102, n),
  owner: PROGRAM,
  lamports: 10_000_000n + BigInt(n),
  executable: false,
  data,
});
const ofKind = (n: number): Uint8Array => {
  const data = new Uint8Array(KIND.length).fill(n);
  data.set(KIND.discriminator);
  return data;
};
const KNOWN: LedgerAccount = {
  address: numbered(103, 0),
  owner: numbered(103, 1),
  lamports: 2n ** 53n + 1n,
  executable: false,
  data: Uint8Array.of(1, 2, 3),
};
const LONG: LedgerAccount = {
  address: numbered(103, 2),
  owner: numbered(103, 1),
  lamports: 1_000_000_000n,
  executable: false,
  data: new Uint8Array(20_000).fill(9),
};
const OWNED = Array.from({ length: 1234 }, (_, n) => planted(n, ofKind(n)));
const OTHERS = [
  new Uint8Array(KIND.length),
  ofKind(5).with(3, 0),
  ofKind(6).slice(0, KIND.length - 1),
  Uint8Array.of(...ofKind(7), 0),
  KIND.discriminator,
  ...Array.from({ length: 200 }, (_, length) => new Uint8Array(length)),
].map((data, n) => planted(2000 + n, data));

/** The accounts that a ledger's world begins with. Its faucet pays the transfers. */
export const PLANTED: ReadonlyArray<LedgerAccount> = [KNOWN, LONG, ...OWNED, ...OTHERS];

/** What every ledger's world has in common once `PLANTED` stands in it. */
export const plantedParts = (): Pick<
  LedgerWorld,
  "known" | "long" | "program" | "idleProgram" | "unused" | "transfer"
> => {
  let unused = 0;
  return {
    known: KNOWN,
    long: LONG,
    program: { kind: KIND, accounts: OWNED, others: OTHERS },
    idleProgram: numbered(104, 0),
    unused: () => numbered(105, unused++),
    transfer: ({ to, lamports, blockhash }) => {
      const transaction = signedTransaction({
        payer: LOCAL_FAUCET,
        instructions: [transferLamports(LOCAL_FAUCET.address, to, lamports)],
        blockhash,
      });
      return {
        transaction,
        message: transaction.slice(MESSAGE_AT),
        signature: ledgerSignatureFromBytes(transaction.slice(1, MESSAGE_AT)),
      };
    },
  };
};
