import { Context, Effect } from "effect";
import type { Address } from "../core/domain/address.ts";
import type { Hash32 } from "../core/domain/hash32.ts";
import type { StoreUnavailable } from "./index/store-refusal.ts";

/**
 * The packets of settled escrows that were served, outside the process: the last 20,000, as text that only the core
 * reads. Losing them costs nothing while a node answers.
 */
export class SettledPackets extends Context.Service<
  SettledPackets,
  {
    /** Keeps an escrow's packet in place of an earlier one. `digest` is SHA-256 of the packet's data. */
    readonly keep: (
      escrow: Address,
      packet: string,
      digest: Hash32,
    ) => Effect.Effect<void, StoreUnavailable>;
    /** The packet that was kept last; null when none is. */
    readonly find: (escrow: Address) => Effect.Effect<string | null, StoreUnavailable>;
    /** The escrow whose packet that is kept has this digest; null when none has. */
    readonly escrowOf: (digest: Hash32) => Effect.Effect<Address | null, StoreUnavailable>;
  }
>()("settlement-evidence/ports/SettledPackets") {}

/** Keeps nothing. */
export const NO_PACKETS: SettledPackets["Service"] = {
  keep: () => Effect.void,
  find: () => Effect.succeed(null),
  escrowOf: () => Effect.succeed(null),
};

/** How many packets are kept: at 12 KB each, 240 MB at most. */
export const MOST_PACKETS = 20_000;
