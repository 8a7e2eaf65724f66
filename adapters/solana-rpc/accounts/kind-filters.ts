import type { AccountKind } from "../../../core/domain/ledger/account-kind.ts";
import { encodeBase58 } from "../../../core/domain/encoding/base58.ts";

/** A filter for accounts with these bytes at `offset` (Agave `rpc-client-types`, `RpcFilterType::Memcmp`). */
export const bytesAt = (offset: number, bytes: Uint8Array) => ({
  memcmp: { offset, bytes: encodeBase58(bytes) },
});

/** The filters for the accounts of a kind. A node accepts up to four. */
export const filtersOf = ({ length, discriminator }: AccountKind): ReadonlyArray<object> => [
  { dataSize: length },
  bytesAt(0, discriminator),
];
