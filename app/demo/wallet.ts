import {
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  generateKeyPair,
  getAddressFromPublicKey,
  getBase64EncodedWireTransaction,
  type Instruction as KitInstruction,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signBytes,
  signTransaction,
} from "@solana/kit";
import { type Address, address } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/base64.ts";
import type { OpenInstruction } from "../../core/domain/next-action.ts";
import { type OpenInstructionRecord, ROLES } from "../../adapters/http/schemas/instruction.ts";
import { expectValue } from "./demo-failed.ts";

/** A key that exists only in this process. */
export type Wallet = {
  readonly address: Address;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Promise<Uint8Array>;
  /** A complete transaction, base64, paid for and signed by this wallet alone. */
  readonly transaction: (
    instructions: ReadonlyArray<OpenInstruction>,
    blockhash: string,
  ) => Promise<string>;
};

/** A new wallet. */
export const newWallet = async (): Promise<Wallet> => {
  const keyPair = await generateKeyPair();
  const kitAddress = await getAddressFromPublicKey(keyPair.publicKey);
  const payer = address(kitAddress);
  const forKit = ({ programAddress, accounts, data }: OpenInstruction) =>
    ({
      programAddress,
      accounts: accounts.map((account) => ({ ...account, address: account.address ?? payer })),
      data,
    }) as unknown as KitInstruction;
  return {
    address: payer,
    sign: (message) => signBytes(keyPair.privateKey, message),
    transaction: async (instructions, blockhash) => {
      const message = appendTransactionMessageInstructions(
        instructions.map(forKit),
        setTransactionMessageLifetimeUsingBlockhash(
          // The blockhash's own expiry is of no use here: the relay checks that it is valid.
          { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
          setTransactionMessageFeePayer(kitAddress, createTransactionMessage({ version: 0 })),
        ),
      );
      const signed = await signTransaction([keyPair], compileTransaction(message));
      return getBase64EncodedWireTransaction(signed);
    },
  };
};

/** The instruction that an answer of the service carries as JSON. */
export const instructionFrom = (record: OpenInstructionRecord): OpenInstruction => ({
  programAddress: address(record.program_address),
  accounts: record.accounts.map((account) => ({
    address: account.address === null ? null : address(account.address),
    role: ROLES.indexOf(account.role) as 0 | 1 | 2 | 3,
  })),
  data: expectValue(decodeBase64(record.data_base64), "the instruction's data is not base64"),
});
