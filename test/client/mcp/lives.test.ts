import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { LOCAL_USDC_MINT } from "../../../adapters/local-ledger/genesis/local-keys.ts";
import { parseTrustPolicy } from "../../../core/protocol/evidence/trust-policy.ts";
import { verifyEvidence } from "../../../core/protocol/verification/verify-evidence.ts";
import { tmpdir } from "../../temporary-root.ts";
import { until } from "../../app/support/running-service.ts";
import {
  AGREES,
  legacyClient,
  type McpClient,
  modernClient,
  type Person,
  type Place,
} from "./mcp-clients.ts";
import { AGENT, attested, MERCHANT, PASSER_BY, signed, startMcpService } from "./mcp-service.ts";

const BIN = join(import.meta.dir, "../../../client/bin/settlement-evidence.ts");
const PAYLOAD = { proof_template_id: "api-delivered-v1", status_code: 200 };
const CONNECT = { modern: modernClient, legacy: legacyClient } as const;

let service: Awaited<ReturnType<typeof startMcpService>>;
let trust: string;
let trustFile: string;

beforeAll(async () => {
  service = await startMcpService();
  trust = await (await fetch(`${service.url}/.well-known/evidence-trust.json`)).text();
  trustFile = join(tmpdir(), `mcp-trust-${process.pid}.json`);
  await Bun.write(trustFile, trust);
}, 60_000);
afterAll(async () => {
  await service.stop();
  await Bun.file(trustFile).delete();
});

const placeOf = (transport: "http" | "stdio"): Place =>
  transport === "http"
    ? { url: `${service.url}/mcp` }
    : {
        command: process.execPath,
        args: [BIN, "mcp", "--service", service.url, "--trust", trustFile],
      };

const connected = async <A>(
  generation: keyof typeof CONNECT,
  transport: "http" | "stdio",
  person: Person,
  use: (client: McpClient) => Promise<A>,
): Promise<A> => {
  const client = await CONNECT[generation](placeOf(transport), person);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
};

/** The result of a call that succeeds. */
const done = async (
  client: McpClient,
  name: string,
  args: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>>> => {
  const { isError, text, structured } = await client.call(name, args);
  expect([name, isError, text]).toEqual([name, false, text]);
  expect(JSON.parse(text)).toEqual(structured);
  return structured;
};

const signedOf = ({ transaction, signers }: Readonly<Record<string, unknown>>): string =>
  signed(transaction as string, signers as ReadonlyArray<string>);

/** How a signed transaction reaches the ledger: by the tool, or by the person who was told how. */
type Land = (client: McpClient, transaction: string) => Promise<void>;

const byTool: Land = async (client, transaction) => {
  const { status, signature } = await done(client, "relay_transaction", {
    signed_transaction: transaction,
  });
  expect(["confirmed", "finalized"]).toContain(status as string);
  const outcome = await done(client, "relay_outcome", { signature });
  expect(outcome).toMatchObject({ status: "landed", error: null, safe_to_sign_again: false });
};

const byPerson: Land = async (client, transaction) => {
  const refused = await client.call("relay_transaction", { signed_transaction: transaction });
  expect(refused.isError).toBe(true);
  expect(refused.text).toStartWith("cannot_ask: ");
  expect(refused.text).toInclude("/v1/relay");
  const response = await fetch(`${service.url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ signed_transaction: transaction, confirm: true }),
  });
  expect(response.status).toBe(202);
};

const pay = async (client: McpClient, land: Land, nonce: string, ttl: number): Promise<string> => {
  const status = await done(client, "service_status", {});
  expect(status["mints"]).toEqual([{ mint: LOCAL_USDC_MINT, symbol: "USDC", decimals: 6 }]);
  const found = await done(client, "find_merchants", { q: MERCHANT.address });
  expect(found["merchants"]).toMatchObject([{ merchant: MERCHANT.address }]);
  const prepared = await done(client, "prepare_payment", {
    agent: AGENT.address,
    merchant: MERCHANT.address,
    mint: LOCAL_USDC_MINT,
    amount: "1000000",
    ttl_seconds: ttl,
    task: "GET https://api.example.com",
    nonce,
    payer: PASSER_BY.address,
  });
  expect(prepared["signers"]).toEqual([PASSER_BY.address, AGENT.address]);
  await land(client, signedOf(prepared));
  return prepared["escrow"] as string;
};

/** The packet that a result links to, verified as a stranger would. */
const requireSound = async (client: McpClient, escrow: string): Promise<void> => {
  const policy = parseTrustPolicy(trust);
  if ("fault" in policy) throw new Error(policy.fault);
  const packet = await client.read(`settlement://evidence/${escrow}`);
  expect(verifyEvidence(packet, policy.value).verdict).toBe("verified");
};

const delivered = async (client: McpClient, land: Land, nonce: string): Promise<string> => {
  const escrow = await pay(client, land, nonce, 3600);
  const pending = await done(client, "read_escrow", { escrow });
  expect(pending).toMatchObject({ state: "Pending", amount: "1000000", agent: AGENT.address });
  const claim = await done(client, "prepare_attestation", {
    escrow,
    proof_hash: "ab".repeat(32),
  });
  const release = await done(client, "prepare_settlement", {
    escrow,
    action: "release",
    payer: PASSER_BY.address,
    proof_hash: claim["proof_hash"],
    timestamp: claim["timestamp"],
    attestation_signature: attested(claim["message_base64"] as string),
  });
  const news = done(client, "read_escrow", { escrow, until: "confirmed" });
  await land(client, signedOf(release));
  expect((await news)["finality"]).toBeOneOf(["confirmed", "final"]);
  const settled = await done(client, "read_escrow", { escrow, until: "final" });
  expect(settled).toMatchObject({ state: "Fulfilled", finality: "final" });
  const evidence = await done(client, "read_evidence", { escrow, payload: PAYLOAD });
  expect(evidence).toMatchObject({ decision: "released", matches: false });
  expect(evidence["packet"]).toBe(`settlement://evidence/${escrow}`);
  await requireSound(client, escrow);
  return escrow;
};

const refunded = async (client: McpClient, land: Land, nonce: string): Promise<string> => {
  const escrow = await pay(client, land, nonce, 1);
  const args = { escrow, action: "refund", payer: PASSER_BY.address };
  const refund = await until(
    "the escrow expires",
    () => client.call("prepare_settlement", args),
    ({ isError }) => !isError,
  );
  await land(client, signedOf(refund.structured));
  const evidence = await done(client, "read_evidence", { escrow });
  expect(evidence).toMatchObject({ decision: "refunded" });
  await requireSound(client, escrow);
  return escrow;
};

const MODERN = "2026-07-28";
const LEGACY = "2025-11-25";

describe.each([
  ["modern", "http", MODERN, byTool, AGREES],
  ["modern", "stdio", MODERN, byTool, AGREES],
  ["legacy", "http", LEGACY, byPerson, AGREES],
  ["legacy", "stdio", LEGACY, byTool, AGREES],
] as const)("a %s client over %s, revision %s", (generation, transport, revision, land, person) => {
  test("a payment is delivered, and a payment is refunded", async () => {
    await connected(generation, transport, person, async (client) => {
      expect(client.revision).toBe(revision);
      expect(await client.tools()).toHaveLength(10);
      const name = `${generation}-${transport}`;
      const released = await delivered(client, land, `${name}-delivered`);
      await refunded(client, land, `${name}-refunded`);
      // Two payments and two settlements, each confirmed by the person and explained before.
      expect(client.asked).toHaveLength(land === byTool ? 4 : 0);
      if (land === byTool) {
        expect(client.asked[0]).toInclude(
          `LOCK 1.000000 USDC (mint ${LOCAL_USDC_MINT}) of agent ${AGENT.address} for merchant ${MERCHANT.address} in escrow ${released}, refundable after 3600 s`,
        );
        expect(client.asked[1]).toInclude(
          `RELEASE what is attested of escrow ${released} to its merchant; RETURN the rent of the settled escrow ${released} to its payer `,
        );
        expect(client.asked[3]).toMatch(
          /REFUND what is left of the ended escrow \w+ to its agent; RETURN the rent /,
        );
        expect(client.asked[0]).toInclude(`Fee payer: ${PASSER_BY.address}`);
      }
    });
  }, 120_000);
});

test("over stdio with a trust document the packet's verdict is given, over HTTP it is not", async () => {
  const escrow = await connected("modern", "http", AGREES, (client) =>
    delivered(client, byTool, "verdict"),
  );
  const verdictOver = (transport: "http" | "stdio") =>
    connected("modern", transport, AGREES, async (client) => {
      const evidence = await done(client, "read_evidence", { escrow });
      return evidence["verdict"];
    });
  expect(await verdictOver("stdio")).toBe("verified");
  expect(await verdictOver("http")).toBeUndefined();
}, 60_000);

const prepareOne = (client: McpClient, nonce: string) =>
  done(client, "prepare_payment", {
    agent: AGENT.address,
    merchant: MERCHANT.address,
    mint: LOCAL_USDC_MINT,
    amount: "1000000",
    ttl_seconds: 60,
    task: "GET https://api.example.com",
    nonce,
    payer: PASSER_BY.address,
  });

const PEOPLE = {
  declines: { action: "decline" },
  cancels: { action: "cancel" },
  "agrees without the tick": { action: "accept", content: { send: false } },
} as const satisfies Readonly<Record<string, Person>>;

test.each(
  Object.entries(PEOPLE).flatMap(([who, person]) =>
    (
      [
        ["modern", "http"],
        ["legacy", "stdio"],
      ] as const
    ).map(([generation, transport]) => [who, generation, transport, person] as const),
  ),
)(
  "a person who %s, %s over %s: nothing is sent",
  async (who, generation, transport, person) => {
    await connected(generation, transport, person, async (client) => {
      const prepared = await prepareOne(client, `${who}-${generation}`);
      const refused = await client.call("relay_transaction", {
        signed_transaction: signedOf(prepared),
      });
      expect(client.asked).toHaveLength(1);
      expect(refused).toMatchObject({
        isError: true,
        text: "not_confirmed: The person did not confirm; nothing was sent. Call again only when they ask for it.",
      });
      const missing = await client.call("read_escrow", { escrow: prepared["escrow"] });
      expect(missing.text).toStartWith("escrow_not_found: ");
    });
  },
  60_000,
);

test.each([
  ["modern", "http"],
  ["modern", "stdio"],
  ["legacy", "http"],
  ["legacy", "stdio"],
] as const)(
  "a %s client without forms over %s is told what to do instead",
  async (generation, transport) => {
    await connected(generation, transport, "cannot", async (client) => {
      const prepared = await prepareOne(client, `forms-${generation}-${transport}`);
      const refused = await client.call("relay_transaction", {
        signed_transaction: signedOf(prepared),
      });
      expect(refused.isError).toBe(true);
      expect(refused.text).toStartWith("cannot_ask: ");
      const missing = await client.call("read_escrow", { escrow: prepared["escrow"] });
      expect(missing.text).toStartWith("escrow_not_found: ");
    });
  },
  60_000,
);
