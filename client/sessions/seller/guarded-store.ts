import { SettlementError } from "../../settlement-error.ts";
import type { SessionStore } from "../store/session-store.ts";

/** A store that does not do what it was asked for. What is unknown then is found out at the next try. */
export class StoreUnusable extends SettlementError {
  constructor(cause: unknown) {
    super(
      "store_unusable",
      cause instanceof Error ? cause.message : "The store of sessions failed.",
      cause instanceof SettlementError ? cause.cure : "Mend the store, and call again.",
      { cause },
    );
  }
}

const guarded = <A>(asked: Promise<A>): Promise<A> =>
  asked.catch((cause: unknown) => {
    throw new StoreUnusable(cause);
  });

/** The same store, whose every failure is a `StoreUnusable`: so it is never taken for one of a handler. */
export const guardedStore = (store: SessionStore): SessionStore => ({
  begin: (finalizedTime) => guarded(store.begin(finalizedTime)),
  open: (session) => guarded(store.open(session)),
  find: (escrow) => guarded(store.find(escrow)),
  unfinished: () => guarded(store.unfinished()),
  reserve: (escrow, count) => guarded(store.reserve(escrow, count)),
  drop: (escrow) => guarded(store.drop(escrow)),
  stage: (call) => guarded(store.stage(call)),
  append: (call, answer) => guarded(store.append(call, answer)),
  answer: (escrow, count) => guarded(store.answer(escrow, count)),
  adopt: (head) => guarded(store.adopt(head)),
  close: (voucher) => guarded(store.close(voucher)),
  finish: (escrow, final) => guarded(store.finish(escrow, final)),
  distrust: (before) => guarded(store.distrust(before)),
  end: (escrow) => guarded(store.end(escrow)),
  calls: (escrow, from) => store.calls(escrow, from),
});
