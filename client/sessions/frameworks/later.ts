/** A promise with what settles it. Node 20 has no `Promise.withResolvers`. */
export type Later<A> = {
  readonly promise: Promise<A>;
  readonly resolve: (value: A) => void;
  readonly reject: (cause: Error) => void;
};

const nothing = (): void => undefined;

/** A promise that is settled later, by others. */
export const later = <A>(): Later<A> => {
  let resolve: Later<A>["resolve"] = nothing;
  let reject: Later<A>["reject"] = nothing;
  const promise = new Promise<A>((take, refuse) => {
    resolve = take;
    reject = refuse;
  });
  return { promise, resolve, reject };
};
