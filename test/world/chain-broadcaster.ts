import { Effect } from "effect";
import { addressFromBytes, addressToBytes } from "../../core/domain/address.ts";
import type { Simulation, TransactionError } from "../../core/domain/relay/relay-entry.ts";
import { SYSTEM_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";
import { verifyEd25519 } from "../../core/protocol/crypto/strict-ed25519.ts";
import {
  decodeWireMessage,
  decodeWireTransaction,
  type WireTransaction,
} from "../../core/protocol/transaction/wire-transaction.ts";
import { Blockspace } from "../../ports/ledger/blockspace.ts";
import { SubmissionRefused } from "../../ports/ledger/broadcaster.ts";
import { walletAccount } from "../doubles/accounts.ts";
import { labelled } from "../simulation/world-escrow.ts";
import { broadcasterPort } from "./broadcaster-port.ts";
import type { Chain, ChainTransaction } from "./chain.ts";

/** Blocks for which a blockhash is valid. */
const BLOCKHASH_AGE = 150n;
const FEE = 5000n;
/** The System program's Transfer, number 2, and the amount, both little-endian. */
const TRANSFER_BYTES = 12;

const plain = (kind: string): TransactionError => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});
/** SystemError::ResultWithNegativeLamports. */
const CANNOT_PAY: TransactionError = {
  kind: "InstructionError",
  instructionIndex: 0,
  instructionError: "Custom",
  customCode: 1,
};

const isSigned = ({ signatures, staticAccounts, message }: WireTransaction): boolean =>
  signatures.every((signature, i) => {
    const signer = staticAccounts[i];
    return signer !== undefined && verifyEd25519(signature, message, addressToBytes(signer));
  });

/**
 * What sends transactions to a chain. It runs transfers of lamports, which is all that a transaction does here. A block
 * takes a transaction at once.
 */
export const chainBroadcaster = (chain: Chain) => {
  const madeAt = new Map<string, bigint>();
  const blockhash = () => {
    const made = addressFromBytes(labelled(`blockhash ${chain.slot}`));
    madeAt.set(made, chain.slot);
    return made;
  };
  const isBlockhashValid = (hash: string): boolean => {
    const made = madeAt.get(hash);
    return made !== undefined && chain.slot - made <= BLOCKHASH_AGE;
  };

  /** The lamports that a transaction moves: from, to and how many; null for one that moves none. */
  const transferOf = ({ instructions, staticAccounts }: WireTransaction) => {
    const transfer = instructions.find(
      ({ program, data }) => program === SYSTEM_PROGRAM && data.length === TRANSFER_BYTES,
    );
    const [from, to] = transfer?.accounts.map((place) => staticAccounts[place]) ?? [];
    if (transfer === undefined || from === undefined || to === undefined) return null;
    const { data } = transfer;
    const lamports = new DataView(data.buffer, data.byteOffset).getBigUint64(4, true);
    return { from, to, lamports };
  };
  const balanceOf = (address: Parameters<Chain["account"]>[0]): bigint =>
    chain.account(address)?.lamports ?? 0n;

  /** The transaction as a block would hold it now, or why no block can. */
  const run = (bytes: Uint8Array): ChainTransaction | TransactionError => {
    const decoded = decodeWireTransaction(bytes);
    if ("malformed" in decoded) return plain("SanitizeFailure");
    const { value } = decoded;
    if (!isSigned(value)) return plain("SignatureFailure");
    if (!isBlockhashValid(value.blockhash)) return plain("BlockhashNotFound");
    const transfer = transferOf(value);
    const isShort = transfer !== null && balanceOf(transfer.from) < transfer.lamports + FEE;
    const { signature, staticAccounts, signerCount, instructions } = value;
    return {
      signature,
      slot: chain.slot,
      time: 0n,
      failed: isShort,
      error: isShort ? CANNOT_PAY : null,
      logs: [`Program ${SYSTEM_PROGRAM} ${isShort ? "failed: 0x1" : "success"}`],
      signers: new Set(staticAccounts.slice(0, signerCount)),
      accounts: staticAccounts,
      instructions: instructions.map(({ program, accounts, data }) => ({
        program,
        accounts: accounts.flatMap((place) => staticAccounts[place] ?? []),
        data,
      })),
      hasCalls: true,
    };
  };

  const move = (bytes: Uint8Array): void => {
    const decoded = decodeWireTransaction(bytes);
    const transfer = "malformed" in decoded ? null : transferOf(decoded.value);
    if (transfer === null) return;
    const { from, to, lamports } = transfer;
    chain.put(walletAccount(from, balanceOf(from) - lamports - FEE));
    chain.put(walletAccount(to, balanceOf(to) + lamports));
  };

  const broadcaster = broadcasterPort({
    isBlockhashValid,
    fee: (message) => {
      const decoded = decodeWireMessage(message);
      return decoded !== undefined && isBlockhashValid(decoded.blockhash) ? FEE : null;
    },
    simulate: (bytes): Simulation => {
      const ran = run(bytes);
      return "kind" in ran
        ? { slot: chain.slot, error: ran, logs: [] }
        : { slot: chain.slot, error: ran.error, logs: ran.logs };
    },
    submit: (bytes) => {
      const ran = run(bytes);
      if ("kind" in ran || chain.transaction(ran.signature) !== undefined) return;
      chain.record(ran);
      if (!ran.failed) move(bytes);
    },
    landed: () => (signature) => {
      const landed = chain.transaction(signature);
      if (landed === undefined) return null;
      const { slot, error } = landed;
      const isFinal = slot <= chain.slot - chain.finality;
      return { slot, commitment: isFinal ? "finalized" : "confirmed", error };
    },
    historyStart: () => chain.firstSlot,
    logs: (signature) => chain.transaction(signature)?.logs ?? [],
  });
  const submit: typeof broadcaster.submit = (bytes) =>
    Effect.suspend(() => {
      const ran = run(bytes);
      return "kind" in ran
        ? Effect.fail(new SubmissionRefused({ error: ran, logs: [] }))
        : broadcaster.submit(bytes);
    });
  return {
    blockhash,
    broadcaster: { ...broadcaster, submit },
    blockspace: Blockspace.of({
      latestBlockhash: Effect.sync(() => ({
        blockhash: blockhash(),
        lastValidBlockHeight: chain.slot + BLOCKHASH_AGE,
        slot: chain.slot,
      })),
      recentPrices: () => Effect.succeed([]),
    }),
  };
};
