import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import type { Escrow } from "../../../core/domain/escrow/escrow.ts";
import { accountOf } from "../../doubles/accounts.ts";
import { ignoringFilters } from "../../world/node-faults.ts";
import { walletOf } from "../../simulation/world-escrow.ts";
import type { SettlementChain } from "../../world/settlement-chain.ts";
import type { Backend, Scenario } from "../scenario.ts";
import { resultOf } from "../../world/rpc-answer.ts";

const MIB = 1024 * 1024;
const { custodyProgram } = LOCAL_DEPLOYMENT;

type Shown = { readonly data: readonly [string, string]; readonly space: number } | null;
type Keyed = { readonly account: Shown; readonly pubkey: string };
type AtSlot<T> = { readonly context: { readonly slot: number }; readonly value: ReadonlyArray<T> };

/** A node that lists a part of what a scan should list. */
const partial = (
  scenario: Pick<Scenario, "name" | "does">,
  isListed: (account: Keyed, random: () => number) => boolean,
): Scenario => ({
  ...scenario,
  isUsual: false,
  play:
    ({ backend, random }) =>
    async (call) => {
      const answer = await backend.answer(call);
      const result = resultOf(answer) as AtSlot<Keyed> | undefined;
      if (call.method !== "getProgramAccounts" || result === undefined) return answer;
      return { result: { ...result, value: result.value.filter((one) => isListed(one, random)) } };
    },
});

const flood = (
  scenario: Pick<Scenario, "name" | "does">,
  counts: { readonly accounts: number; readonly bytes: number },
): Scenario => ({
  ...scenario,
  isUsual: true,
  prepare: (world: SettlementChain) => {
    const data = new Uint8Array(counts.bytes);
    for (let number = 0; number < counts.accounts; number++)
      world.put(accountOf(walletOf(`${scenario.name} ${number}`), custodyProgram, data));
  },
  play:
    ({ backend }: { readonly backend: Backend }) =>
    (call) =>
      backend.answer(call),
});

/** The escrow that was refunded, as it would be had the attestor's claim come first. */
const asFulfilled = (escrow: Escrow): Escrow => ({
  ...escrow,
  state: "Fulfilled",
  released: escrow.amount,
  attestation: {
    proofHash: escrow.taskHash,
    attestedAt: escrow.createdAt + 50n,
    signature: Buffer.alloc(64, 7).toString("base64"),
  },
});

/** Shows each refunded escrow as released, once or always. */
const contradicting = (name: string, does: string, times: number): Scenario => {
  let world: SettlementChain | null = null;
  return {
    name,
    does,
    isUsual: false,
    prepare: (prepared) => {
      world = prepared;
    },
    play: ({ backend }) => {
      const told = new Map<string, number>();
      const lie = (address: string, shown: Shown): Shown => {
        const escrow = [...(world?.escrows.values() ?? [])].find((one) => one.address === address);
        const lies = told.get(address) ?? 0;
        if (escrow?.state !== "Refunded" || shown === null || lies >= times) return shown;
        told.set(address, lies + 1);
        const data = Buffer.from(encodeEscrowAccount(asFulfilled(escrow))).toString("base64");
        return { ...shown, data: [data, "base64"] };
      };
      return async (call) => {
        const answer = await backend.answer(call);
        const result = resultOf(answer);
        if (call.method === "getMultipleAccounts") {
          const { context, value } = result as AtSlot<Shown>;
          const asked = call.params[0] as ReadonlyArray<string>;
          return { result: { context, value: value.map((one, i) => lie(asked[i] ?? "", one)) } };
        }
        if (call.method !== "getProgramAccounts" || result === undefined) return answer;
        const { context, value } = result as AtSlot<Keyed>;
        return {
          result: {
            context,
            value: value.map(({ account, pubkey }) => ({ account: lie(pubkey, account), pubkey })),
          },
        };
      };
    },
  };
};

/** Nodes that hide, invent or contradict accounts. */
export const ACCOUNTS: ReadonlyArray<Scenario> = [
  partial({ name: "empty-scans", does: "answers every scan with an empty list" }, () => false),
  partial(
    { name: "half-scans", does: "leaves out every other account of a scan" },
    (_, random) => random() < 0.5,
  ),
  flood(
    { name: "many-junk-accounts", does: "holds 2,000 zeroed accounts of strangers" },
    { accounts: 2000, bytes: 368 },
  ),
  flood(
    { name: "large-junk-accounts", does: "holds three zeroed accounts of 10 MiB" },
    { accounts: 3, bytes: 10 * MIB },
  ),
  {
    ...flood(
      {
        name: "unfiltered-large-junk",
        does: "ignores filters and lists thirty zeroed accounts of 10 MiB, more than a whole answer may have",
      },
      { accounts: 30, bytes: 0 },
    ),
    prepare: (world) => {
      const data = new Uint8Array(10 * MIB);
      for (let number = 0; number < 3; number++)
        world.put(accountOf(walletOf(`unfiltered ${number}`), custodyProgram, data));
    },
    play: ({ backend }) => ignoringFilters(backend.answer),
  },
  contradicting("contradicts-once", "shows each refunded escrow once as released", 1),
  contradicting(
    "contradicts-for-ever",
    "shows refunded escrows as released for as long as it is asked",
    Number.POSITIVE_INFINITY,
  ),
];
