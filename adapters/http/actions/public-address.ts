import { Effect } from "effect";
import { WalletLinksOff } from "../problems/http-failures.ts";

/** The public address of the documentation's examples. */
export const SAMPLE_PUBLIC_URL = "https://evidence.example.com";

/** The configured public address. Fails with `WalletLinksOff` without one. */
export const publicAddress = (publicUrl: string | null): Effect.Effect<string, WalletLinksOff> =>
  publicUrl === null ? Effect.fail(new WalletLinksOff()) : Effect.succeed(publicUrl);
