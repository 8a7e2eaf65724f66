import {
  appendTransactionMessageInstructions,
  blockhash as parseBlockhash,
  compileTransaction,
  createKeyPairFromPrivateKeyBytes,
  createTransactionMessage,
  generateKeyPair,
  getAddressFromPublicKey,
  getBase64EncodedWireTransaction,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  signBytes,
  signTransaction,
} from "@solana/kit";
import { type Address, address } from "../../core/domain/address.ts";
import { decodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { AccountRole, Instruction } from "../../core/domain/ledger/instruction.ts";
import type { OpenInstruction } from "../../core/domain/escrow/next-action.ts";
import {
  type OpenInstructionRecord,
  ROLES,
} from "../../adapters/http/escrow/instruction-contract.ts";
import { expectValue } from "./demo-failed.ts";

/** A key that exists only in this process. */
export type Wallet = {
  readonly address: Address;
  /** The 64-byte Ed25519 signature of a message. */
  readonly sign: (message: Uint8Array) => Promise<Uint8Array>;
  /** A complete transaction as base64. This wallet alone pays for it and signs it. */
  readonly transaction: (
    instructions: ReadonlyArray<OpenInstruction>,
    blockhash: string,
  ) => Promise<string>;
};

/** A new wallet. */
export const newWallet = async (): Promise<Wallet> => walletOf(await generateKeyPair());

/** The wallet of an Ed25519 seed of 32 bytes. */
export const walletOfSeed = async (seed: Uint8Array): Promise<Wallet> =>
  walletOf(await createKeyPairFromPrivateKeyBytes(seed));

const walletOf = async (keyPair: CryptoKeyPair): Promise<Wallet> => {
  const kitAddress = await getAddressFromPublicKey(keyPair.publicKey);
  const payer = address(kitAddress);
  const filledIn = ({ programAddress, accounts, data }: OpenInstruction): Instruction => ({
    programAddress,
    accounts: accounts.map(({ address, role }) => ({ address: address ?? payer, role })),
    data,
  });
  return {
    address: payer,
    sign: (message) => signBytes(keyPair.privateKey, message),
    transaction: async (instructions, blockhash) => {
      const message = appendTransactionMessageInstructions(
        instructions.map(filledIn),
        setTransactionMessageLifetimeUsingBlockhash(
          // The last valid block height is not needed: the relay checks the blockhash.
          { blockhash: parseBlockhash(blockhash), lastValidBlockHeight: 0n },
          setTransactionMessageFeePayer(kitAddress, createTransactionMessage({ version: 0 })),
        ),
      );
      const signed = await signTransaction([keyPair], compileTransaction(message));
      return getBase64EncodedWireTransaction(signed);
    },
  };
};

/** The instruction in a JSON answer of the service. */
export const instructionFrom = (record: OpenInstructionRecord): OpenInstruction => ({
  programAddress: address(record.program_address),
  accounts: record.accounts.map((account) => ({
    address: account.address === null ? null : address(account.address),
    role: ROLES.indexOf(account.role) as AccountRole,
  })),
  data: expectValue(decodeBase64(record.data_base64), "the instruction's data is not base64"),
});
