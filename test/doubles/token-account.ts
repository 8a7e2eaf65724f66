import type { Address } from "../../core/domain/address.ts";
import type { LedgerAccount } from "../../core/domain/ledger/account.ts";
import { fieldWriter } from "../../core/protocol/accounts/byte-fields.ts";
import { associatedTokenAddress } from "../../core/protocol/addresses/addresses.ts";
import { TOKEN_PROGRAM } from "../../core/protocol/addresses/well-known-addresses.ts";

/** An SPL Token account of 165 bytes; at the owner's associated address unless another is given. */
export const tokenAccountOf = (
  { owner, mint }: { readonly owner: Address; readonly mint: Address },
  amount: bigint,
  other: { readonly at?: Address; readonly isFrozen?: boolean; readonly delegate?: Address } = {},
): LedgerAccount => {
  const { delegate } = other;
  const head = fieldWriter(165).address(mint).address(owner).u64(amount);
  const rest = delegate === undefined ? head.skip(36) : head.u32(1).address(delegate);
  return {
    address: other.at ?? associatedTokenAddress(owner, mint),
    owner: TOKEN_PROGRAM,
    lamports: 2_039_280n,
    executable: false,
    data: rest
      .u8(other.isFrozen === true ? 2 : 1)
      .skip(56)
      .done(),
  };
};
