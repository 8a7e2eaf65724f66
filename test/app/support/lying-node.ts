type Call = {
  readonly id: number;
  readonly method: string;
  readonly params: readonly [unknown, ...ReadonlyArray<unknown>];
};
type Encoded = { readonly data: readonly [string, string] } | null;
type Listed = { readonly pubkey: string; readonly account: Encoded };
type Answer = { readonly result?: unknown };

/** The bytes that a node shows for an account in place of the true ones. */
export type Lie = (address: string, data: Uint8Array) => Uint8Array;

const valueOf = (result: unknown): unknown =>
  typeof result === "object" && result !== null && "value" in result ? result.value : result;

/** The accounts in an answer, by address. */
const accountsIn = ({ method, params }: Call, { result }: Answer): ReadonlyArray<Listed> => {
  const value = valueOf(result);
  if (method === "getAccountInfo")
    return [{ pubkey: String(params[0]), account: value as Encoded }];
  if (method === "getProgramAccounts") return (value ?? []) as ReadonlyArray<Listed>;
  if (method !== "getMultipleAccounts") return [];
  const addresses = params[0] as ReadonlyArray<string>;
  return ((value ?? []) as ReadonlyArray<Encoded>).map((account, i) => ({
    pubkey: addresses[i] ?? "",
    account,
  }));
};

/** The answer with what a lie makes of its accounts. Only their bytes change: other members hold numbers beyond 2^53. */
const forged = (call: Call, text: string, lie: Lie): string => {
  let told = text;
  for (const { pubkey, account } of accountsIn(call, JSON.parse(text) as Answer)) {
    if (account === null) continue;
    const [data] = account.data;
    const shown = lie(pubkey, new Uint8Array(Buffer.from(data, "base64")));
    told = told.replaceAll(`"${data}"`, `"${Buffer.from(shown).toString("base64")}"`);
  }
  return told;
};

/** A node of the ledger at `rpcUrl` that tells the truth about every account while `lie` is null. */
export const lyingNode = (rpcUrl: string) => {
  let lie: Lie | null = null;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const body = await request.text();
      const headers = { "content-type": "application/json" };
      const answer = await fetch(rpcUrl, { method: "POST", headers, body });
      const text = await answer.text();
      const told = lie === null ? text : forged(JSON.parse(body) as Call, text, lie);
      return new Response(told, { status: answer.status, headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    lies: (next: Lie | null) => {
      lie = next;
    },
    stop: () => server.stop(true),
  };
};
