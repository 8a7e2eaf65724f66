import { signedTransaction } from "../../../../adapters/local-ledger/genesis/signed-transaction.ts";
import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../../../core/domain/ledger/instruction.ts";
import { type Wallet, wallet } from "../../../programs/fixture/wallet.ts";

/** A blockhash for each number. */
export const blockhashOf = (n: number): string => wallet(`blockhash ${n}`).address;

/** The bytes of a transaction; the first signer pays. */
export const signedBytes = (
  instructions: ReadonlyArray<Instruction>,
  [payer, ...signers]: readonly [Wallet, ...ReadonlyArray<Wallet>],
  blockhash = blockhashOf(0),
): Uint8Array => signedTransaction({ payer, signers, instructions, blockhash });

/** The same as base64, as the relay takes it. */
export const signedBase64 = (...input: Parameters<typeof signedBytes>): string =>
  encodeBase64(signedBytes(...input));
