import { getBase58Encoder } from "@solana/kit";
import type { AccountKind, LedgerAccount } from "../../core/domain/ledger/account.ts";

/**
 * A filter of getProgramAccounts (Agave `rpc-client-types`, `RpcFilterType`), of the kinds that the tests' nodes
 * support.
 */
export type AccountFilter = {
  readonly dataSize?: number;
  readonly memcmp?: {
    readonly offset: number;
    readonly bytes: string;
    readonly encoding?: "base58" | "base64";
  };
};

/** Most filters of one request (Agave `request.rs`, `MAX_GET_PROGRAM_ACCOUNT_FILTERS`). */
const MOST_FILTERS = 4;

const bytesOf = ({ bytes, encoding }: NonNullable<AccountFilter["memcmp"]>): Uint8Array =>
  new Uint8Array(
    encoding === "base64" ? Buffer.from(bytes, "base64") : getBase58Encoder().encode(bytes),
  );

const isAt = (data: Uint8Array, offset: number, bytes: Uint8Array): boolean => {
  if (offset + bytes.length > data.length) return false;
  for (let i = 0; i < bytes.length; i++) if (data[offset + i] !== bytes[i]) return false;
  return true;
};

/** Whether data passes all filters, as a node decides. @throws Error for more filters than a node accepts. */
export const passing = (filters: ReadonlyArray<AccountFilter>): ((data: Uint8Array) => boolean) => {
  if (filters.length > MOST_FILTERS) throw new Error(`${filters.length} filters`);
  const conditions = filters.map(({ dataSize, memcmp }) => {
    const bytes = memcmp === undefined ? new Uint8Array() : bytesOf(memcmp);
    return (data: Uint8Array) =>
      (dataSize === undefined || data.length === dataSize) &&
      (memcmp === undefined || isAt(data, memcmp.offset, bytes));
  });
  return (data) => conditions.every((holds) => holds(data));
};

/** Whether an account is of a kind, as the node behind a `Ledger` decides. */
export const isOfKind = (
  { owner, data }: Pick<LedgerAccount, "owner" | "data">,
  { program, length, discriminator }: AccountKind,
): boolean => owner === program && data.length === length && isAt(data, 0, discriminator);
