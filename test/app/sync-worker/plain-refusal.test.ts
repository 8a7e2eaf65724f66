import { expect, test } from "bun:test";
import { plainRefusal, refusalOf } from "../../../app/sync-worker/messages.ts";
import { startFailureText } from "../../../app/lifecycle/shutdown.ts";
import { WrongLedger } from "../../../app/stores/stores-of-ledger.ts";
import {
  StoreCorrupt,
  StoreOfAnotherLedger,
  StoreTooNew,
  StoreUnavailable,
} from "../../../ports/index/store-refusal.ts";

const store = "/data/index.sqlite";
const differences = [{ field: "genesis_hash", stored: "a", configured: "b" }] as const;

test.each([
  new WrongLedger({ configured: "devnet", found: "localnet" }),
  new StoreUnavailable({ retryable: false, cause: new Error("disk I/O error") }),
  new StoreTooNew({ store, found: 7, supported: 1 }),
  new StoreOfAnotherLedger({ store, differences }),
  new StoreCorrupt({ store, reason: "it is damaged", cause: new Error("malformed") }),
])("a refusal explains the same after it has crossed to another thread: %#", (refusal) => {
  const crossed = refusalOf(structuredClone(plainRefusal(refusal)));
  expect(crossed._tag).toBe(refusal._tag);
  expect(crossed).toBeInstanceOf(refusal.constructor);
  expect(startFailureText(crossed)).toBe(startFailureText(refusal));
});
