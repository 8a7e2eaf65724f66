import {
  StoreCorrupt,
  StoreOfAnotherLedger,
  StoreTooNew,
} from "../../ports/index/store-refusal.ts";
import { StoreUnavailable } from "../../ports/index/store-unavailable.ts";
import { type StoresRefused, WrongLedger } from "../stores/stores-of-ledger.ts";

type Fields<E extends StoresRefused, Name extends keyof E> = Pick<E, Name | "_tag">;

/** A refusal as plain data: cloning an error for another thread loses its tag and fields. */
export type PlainRefusal =
  | Fields<WrongLedger, "configured" | "found">
  | (Fields<StoreUnavailable, "retryable" | "store" | "fault"> & { readonly cause: string })
  | Fields<StoreTooNew, "store" | "found" | "supported">
  | Fields<StoreOfAnotherLedger, "store" | "differences">
  | Fields<StoreCorrupt, "store" | "reason">;

/** A refusal's fields; of its cause only the text. */
export const plainRefusal = (refusal: StoresRefused): PlainRefusal => {
  switch (refusal._tag) {
    case "WrongLedger": {
      const { _tag, configured, found } = refusal;
      return { _tag, configured, found };
    }
    case "StoreUnavailable": {
      const { _tag, retryable, cause, store, fault } = refusal;
      const text = cause instanceof Error ? cause.message : String(cause);
      return { _tag, retryable, cause: text, store, fault };
    }
    case "StoreTooNew": {
      const { _tag, store, found, supported } = refusal;
      return { _tag, store, found, supported };
    }
    case "StoreOfAnotherLedger": {
      const { _tag, store, differences } = refusal;
      return { _tag, store, differences };
    }
    case "StoreCorrupt": {
      const { _tag, store, reason } = refusal;
      return { _tag, store, reason };
    }
  }
};

/** The refusal whose fields these are. */
export const refusalOf = (plain: PlainRefusal): StoresRefused => {
  switch (plain._tag) {
    case "WrongLedger":
      return new WrongLedger(plain);
    case "StoreUnavailable":
      return new StoreUnavailable(plain);
    case "StoreTooNew":
      return new StoreTooNew(plain);
    case "StoreOfAnotherLedger":
      return new StoreOfAnotherLedger(plain);
    case "StoreCorrupt":
      return new StoreCorrupt(plain);
  }
};
