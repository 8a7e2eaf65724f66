import {
  type LedgerSignature,
  ledgerSignatureFromBytes,
} from "../../../core/domain/ledger-signature.ts";
import { decodeWireMessage, type WireMessage } from "./wire-message.ts";

/** Largest legacy or version 0 transaction in bytes (Agave `packet.rs`: PACKET_DATA_SIZE). */
export const MAX_TRANSACTION_BYTES = 1232;

/** A decoded transaction with the bytes it came from. Its signatures are not yet checked. */
export type WireTransaction = {
  readonly bytes: Uint8Array;
  /** The first signature, the transaction's name. */
  readonly signature: LedgerSignature;
  readonly signatures: ReadonlyArray<LedgerSignature>;
  readonly messageBytes: Uint8Array;
  readonly message: WireMessage;
};

/** The bytes that are signed, of bytes known to be a transaction. */
export const messageBytesOf = (wire: Uint8Array): Uint8Array =>
  wire.subarray(1 + 64 * (wire[0] ?? 0));

/** The transaction that exactly these bytes encode, or undefined: see `decodeWireMessage`. */
export const decodeWireTransaction = (bytes: Uint8Array): WireTransaction | undefined => {
  const count = bytes[0] ?? 0;
  // 1232 bytes hold 19 signatures, so a canonical count is one byte below 0x80 (short_vec).
  if (bytes.length > MAX_TRANSACTION_BYTES || count === 0) return undefined;
  const messageBytes = messageBytesOf(bytes);
  const message = decodeWireMessage(messageBytes);
  if (message === undefined || message.header.numSignerAccounts !== count) return undefined;
  const signatures = Array.from({ length: count }, (_, i) =>
    ledgerSignatureFromBytes(bytes.subarray(1 + 64 * i, 65 + 64 * i)),
  );
  const [signature] = signatures;
  return signature === undefined
    ? undefined
    : { bytes, signature, signatures, messageBytes, message };
};
