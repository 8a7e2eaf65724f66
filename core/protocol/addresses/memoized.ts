import { RecentlyUsed } from "../../domain/recently-used.ts";

/**
 * Memoizes `compute(key, scope)`. Keeps the last `capacity` to `2 * capacity` keys, with one scope each: the latest. For
 * pure functions only, and for keys that rarely come with several scopes. A joined key would cost a concatenation and a
 * hash on each call.
 */
export const memoized = <Key extends string, Scope extends string, Result>(
  capacity: number,
  compute: (key: Key, scope: Scope) => Result,
): ((key: Key, scope: Scope) => Result) => {
  const results = new RecentlyUsed<Key, { readonly scope: Scope; readonly result: Result }>(
    capacity,
  );
  return (key, scope) => {
    const known = results.get(key);
    if (known?.scope === scope) return known.result;
    const result = compute(key, scope);
    results.set(key, { scope, result });
    return result;
  };
};
