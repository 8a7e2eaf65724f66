import type { Address } from "../../../../core/domain/address.ts";
import { fieldsOf } from "../../../../core/protocol/accounts/byte-fields.ts";
import { TOKEN_PROGRAM } from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { AccountState } from "../../runtime/accounts/account-state.ts";
import {
  tokenHolding,
  tokenMint,
  uiTokenAmount,
  type UiTokenAmount,
} from "../../runtime/accounts/token-balance.ts";

/** Account data as `jsonParsed` shows it. */
export type ParsedAccount = {
  readonly program: "spl-token";
  readonly parsed: {
    readonly type: "account" | "mint";
    readonly info: Readonly<Record<string, string | number | boolean | null | UiTokenAmount>>;
  };
  readonly space: number;
};

const STATES = ["uninitialized", "initialized", "frozen"] as const;

/** SPL Token's COption of a key: a u32 LE tag, then 32 bytes that are valid only when the tag is 1. */
const optionalKey = (data: Uint8Array, at: number): Address | null => {
  const fields = fieldsOf(data);
  return fields.u32(at) === 1 ? fields.address(at + 4) : null;
};

/** Offsets as in SPL Token `state.rs`, Account: delegate 72, state 108, native 109, delegated 121, closer 129. */
const accountInfo = (data: Uint8Array, decimals: number) => {
  const fields = fieldsOf(data);
  const delegate = optionalKey(data, 72);
  const closeAuthority = optionalKey(data, 129);
  const isNative = fields.u32(109) === 1;
  return {
    mint: fields.address(0),
    owner: fields.address(32),
    tokenAmount: uiTokenAmount(fields.u64(64), decimals),
    state: STATES[fields.u8(108)] ?? "uninitialized",
    isNative,
    ...(isNative ? { rentExemptReserve: uiTokenAmount(fields.u64(113), 9) } : {}),
    ...(delegate === null
      ? {}
      : { delegate, delegatedAmount: uiTokenAmount(fields.u64(121), decimals) }),
    ...(closeAuthority === null ? {} : { closeAuthority }),
  };
};

/**
 * SPL Token accounts and mints in the form wallets read (Agave `account-decoder/src/parse_token.rs`). Undefined for
 * every other account; nodes answer with base64 then.
 */
export const parsedAccount = (
  state: AccountState,
  decimalsOf: (mint: Address) => number | undefined,
): ParsedAccount | undefined => {
  if (state.owner !== TOKEN_PROGRAM) return undefined;
  const { data } = state;
  const parsed = (type: "account" | "mint", info: ParsedAccount["parsed"]["info"]) => ({
    program: "spl-token" as const,
    parsed: { type, info },
    space: data.length,
  });
  const mint = tokenMint(state);
  if (mint !== undefined)
    return parsed("mint", {
      mintAuthority: optionalKey(data, 0),
      supply: mint.supply.toString(),
      decimals: mint.decimals,
      isInitialized: true,
      freezeAuthority: optionalKey(data, 46),
    });
  const holding = tokenHolding(state);
  const decimals = holding === undefined ? undefined : decimalsOf(holding.mint);
  return decimals === undefined ? undefined : parsed("account", accountInfo(data, decimals));
};
