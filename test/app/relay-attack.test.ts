import { afterAll, beforeAll, expect, test } from "bun:test";
import { computeUnitLimit } from "../../adapters/local-ledger/genesis/funding-instructions.ts";
import { type LocalKey, localKey } from "../../adapters/local-ledger/genesis/local-keys.ts";
import { signedTransaction } from "../../adapters/local-ledger/genesis/signed-transaction.ts";
import { encodeBase64 } from "../../core/domain/encoding/base64.ts";
import type { Instruction } from "../../core/domain/ledger/instruction.ts";
import { registerMerchantInstruction } from "../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import {
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
} from "../../core/protocol/addresses/well-known-addresses.ts";
import {
  quietEnvironment,
  runService,
  temporaryDirectory,
  until,
  untilReady,
} from "./support/running-service.ts";

/** An account without data must keep this much, or nothing (Rent sysvar: 128 bytes at 6960 lamports). */
const RENT_MINIMUM = 890_880;
const RICH = 1_000_000_000;
const ADDRESSES = 9;
const PAYERS = 20;
const EACH = 50;
/** The relay verifies each of the thousand, which is work: 40 s where six processes share a core. */
const LONG_MS = 240_000;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: Awaited<ReturnType<typeof runService>>;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await runService({
    ...quietEnvironment(directory.path),
    LOCAL_LEDGER_DEMO: "false",
    TRUSTED_PROXIES: "127.0.0.1",
    // The defaults for one address and one fee payer, per minute.
    RATE_LIMIT_RELAY: "120",
  });
  await untilReady(service.url);
}, 60_000);

afterAll(async () => {
  await service.stop();
  await directory.remove();
});

const call = async <A>(method: string, ...params: ReadonlyArray<unknown>): Promise<A> => {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const { result, error } = (await (
    await fetch(service.rpcUrl, { method: "POST", body })
  ).json()) as {
    result?: A;
    error?: unknown;
  };
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
};
const fund = (payer: LocalKey, lamports: number) =>
  call<string>("requestAirdrop", payer.address, lamports, { commitment: "processed" });

/** A merchant's registration, which a relay accepts, after `instructions`. `n` makes it unique. */
const transaction = (
  payer: LocalKey,
  blockhash: string,
  n: number,
  instructions: ReadonlyArray<Instruction>,
): string => {
  const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
    payer: payer.address,
    merchant: payer.address,
    attestor: localKey("attestor of an attack").address,
    name: "Weather Data Ltd",
  });
  const memo = {
    programAddress: MEMO_PROGRAM,
    accounts: [],
    data: new TextEncoder().encode(String(n)),
  };
  return encodeBase64(
    signedTransaction({ payer, instructions: [...instructions, registration, memo], blockhash }),
  );
};

const relay = async (from: string, signed: string, skipPreflight: boolean): Promise<string> => {
  const response = await fetch(`${service.url}/v1/relay`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-forwarded-for": from },
    body: JSON.stringify({ signed_transaction: signed, skip_preflight: skipPreflight }),
  });
  const { code } = (await response.json()) as { code?: string };
  return code === undefined ? String(response.status) : `${response.status} ${code}`;
};

const budget = (...data: ReadonlyArray<number>): Instruction => ({
  programAddress: COMPUTE_BUDGET_PROGRAM,
  accounts: [],
  data: Uint8Array.from(data),
});
/** Transactions that the ledger refuses before running them, so that they cost the sender nothing. */
const KINDS: ReadonlyArray<{
  readonly lamports: number;
  readonly instructions: ReadonlyArray<Instruction>;
}> = [
  { lamports: RICH, instructions: [computeUnitLimit(200_000), computeUnitLimit(200_000)] },
  { lamports: RENT_MINIMUM, instructions: [] },
  { lamports: RICH, instructions: [budget(4, 1, 0, 0, 0)] },
];

test(
  "a thousand transactions that never land, of 20 payers from 9 addresses, exclude nobody from the relay",
  async () => {
    const payers = Array.from({ length: PAYERS }, (_, i) => localKey(`attacker ${i}`));
    const honest = localKey("honest agent");
    for (const [i, payer] of payers.entries())
      await fund(payer, KINDS[i % KINDS.length]?.lamports ?? RICH);
    const funded = await fund(honest, RICH);
    await until(
      "the payers are funded",
      () =>
        call<{ value: ReadonlyArray<{ confirmationStatus: string } | null> }>(
          "getSignatureStatuses",
          [funded],
        ),
      ({ value }) => value[0]?.confirmationStatus === "finalized",
    );
    const { value } = await call<{ value: { blockhash: string } }>("getLatestBlockhash");
    const attacks = payers.flatMap((payer, p) =>
      Array.from({ length: EACH }, (_, n) => ({
        from: `198.51.100.${(p * EACH + n) % ADDRESSES}`,
        signed: transaction(payer, value.blockhash, n, KINDS[p % KINDS.length]?.instructions ?? []),
      })),
    );
    const taken: Array<string> = [];
    const attack = async (): Promise<void> => {
      for (let next = attacks.pop(); next !== undefined; next = attacks.pop()) {
        if ((await relay(next.from, next.signed, true)) === "202") taken.push(next.signed);
      }
    };
    await Promise.all(Array.from({ length: 32 }, attack));

    // A busy machine may take longer for the attack than a blockhash is valid.
    const fresh = await call<{ value: { blockhash: string } }>("getLatestBlockhash");
    const signed = transaction(honest, fresh.value.blockhash, 0, []);
    expect(await relay("203.0.113.7", signed, false)).toBe("202");
    expect(taken).toEqual([]);
  },
  LONG_MS,
);
