import {
  type Address as KitAddress,
  type Blockhash,
  appendTransactionMessageInstructions,
  compileTransactionMessage,
  createTransactionMessage,
  getCompiledTransactionMessageEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import type { Address } from "../../core/domain/address.ts";
import type { Instruction } from "../../core/domain/instruction.ts";
import type { LocalKey } from "./local-keys.ts";

const kitAddress = (address: Address): KitAddress => address as string as KitAddress;

/**
 * The bytes of a version 0 transaction, signed by every local key it needs, the payer first. It is made
 * without awaiting anything, so that nothing can come between it and the ledger.
 * @throws Error when a required signer is not among the keys.
 */
export const signedTransaction = (input: {
  readonly payer: Pick<LocalKey, "address" | "sign">;
  readonly signers?: ReadonlyArray<Pick<LocalKey, "address" | "sign">>;
  readonly instructions: ReadonlyArray<Instruction>;
  readonly blockhash: string;
}): Uint8Array => {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(kitAddress(input.payer.address), m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: input.blockhash as Blockhash, lastValidBlockHeight: 0n },
        m,
      ),
    (m) =>
      appendTransactionMessageInstructions(
        input.instructions.map(({ programAddress, accounts, data }) => ({
          programAddress: kitAddress(programAddress),
          accounts: accounts.map(({ address, role }) => ({ address: kitAddress(address), role })),
          data,
        })),
        m,
      ),
  );
  const compiled = compileTransactionMessage(message);
  const bytes = new Uint8Array(getCompiledTransactionMessageEncoder().encode(compiled));
  const keys = [input.payer, ...(input.signers ?? [])];
  const required = compiled.staticAccounts.slice(0, compiled.header.numSignerAccounts);
  const signatures = required.map((needed) => {
    const key = keys.find(({ address }) => (address as string) === needed);
    if (key === undefined) throw new Error(`no local key for the signer ${needed}`);
    return key.sign(bytes);
  });
  return new Uint8Array(Buffer.concat([Uint8Array.of(signatures.length), ...signatures, bytes]));
};
