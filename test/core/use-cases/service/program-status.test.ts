import { describe, expect, test } from "bun:test";
import { Effect, Scope } from "effect";
import { TestClock } from "effect/testing";
import { addressFromBytes } from "../../../../core/domain/address.ts";
import { deployedProgramAccounts } from "../../../../core/protocol/accounts/loader-v3.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { domainOf } from "../../../../core/protocol/instructions/attestation.ts";
import { initialisedBy, programStatus } from "../../../../core/use-cases/service/program-status.ts";
import { binaryPath, PROGRAM_NAMES, SBPF_VERSIONS } from "../../../../programs/compile.ts";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { ATTESTOR_ACCOUNTS } from "../../../../core/protocol/generated/attestor.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { registryOf } from "../../../doubles/registry.ts";
import { makeTransactionTerms } from "../../../../core/use-cases/service/transaction-terms.ts";
import { Blockspace } from "../../../../ports/ledger/blockspace.ts";
import { Instance } from "../../../../ports/instance.ts";
import { testInstance } from "../test-instance.ts";
import { patientClock } from "../../../doubles/patient-clock.ts";

const ADDRESSES = {
  custody: LOCAL_DEPLOYMENT.custodyProgram,
  attestor: LOCAL_DEPLOYMENT.attestorProgram,
} as const;

const AUTHORITY = addressFromBytes(new Uint8Array(32).fill(7));

const statusOf = (name: keyof typeof ADDRESSES, elf: Uint8Array) => {
  const [data, program] = deployedProgramAccounts(
    ADDRESSES[name],
    { slot: 1n, upgradeAuthority: AUTHORITY, elf },
    () => 1n,
  );
  return programStatus(name, ADDRESSES[name], { program, data }, true, []);
};

describe.each([...PROGRAM_NAMES])("the status of %s", (name) => {
  test.each([...SBPF_VERSIONS])(
    "names the deployed version %s, and knows our file of it",
    async (version) => {
      const elf = await Bun.file(binaryPath(name, version)).bytes();
      const known = { sbpfVersion: Number(version.slice(1)), isOurs: true };
      expect(statusOf(name, elf)).toMatchObject(known);
      // A deployed program has reserved zero bytes after it.
      const roomy = new Uint8Array(elf.length + 100);
      roomy.set(elf);
      expect(statusOf(name, roomy)).toMatchObject(known);
      const changed = elf.with(elf.length - 1, (elf.at(-1) ?? 0) ^ 1);
      expect(statusOf(name, changed)).toMatchObject({ ...known, isOurs: false });
      const other = name === "custody" ? "attestor" : "custody";
      expect(statusOf(other, elf)).toMatchObject({ ...known, isOurs: false });
      // A file that claims another version is compared with that version's binary.
      const mislabelled = elf.with(48, known.sbpfVersion === 0 ? 3 : 0);
      expect(statusOf(name, mislabelled).isOurs).toBe(false);
    },
  );

  test("is null for an account that is not an ELF or does not exist", () => {
    expect(statusOf(name, Uint8Array.of(1, 2, 3))).toMatchObject({
      sbpfVersion: null,
      isOurs: false,
    });
    expect(
      programStatus(name, ADDRESSES[name], { program: null, data: null }, false, []),
    ).toMatchObject({
      deployed: false,
      sbpfVersion: null,
      isOurs: null,
    });
    expect(programStatus(name, ADDRESSES[name], null, null, [])).toMatchObject({ isOurs: null });
  });
});

const config = custodyConfigAccount(LOCAL_DEPLOYMENT, { count: 0n });

const registry = registryOf(LOCAL_DEPLOYMENT);

const DOMAIN = domainOf({ ...LOCAL_DEPLOYMENT, genesisHash: TEST_GENESIS_HASH });

/** An account whose bytes from `at` name another program. */
const naming = (account: LedgerAccount, at: number): LedgerAccount => {
  const data = account.data.slice();
  data.fill(7, at, at + 32);
  return { ...account, data };
};

const ofAnother = naming(config, CUSTODY_ACCOUNTS.CustodyConfig.at.attestorProgram);

const forAnother = naming(registry, ATTESTOR_ACCOUNTS.Registry.at.custodyProgram);

const unread = (account: LedgerAccount): LedgerAccount => ({
  ...account,
  data: account.data.slice(1),
});

test.each([
  ["both, when each names the other", config, registry, true, true],
  ["neither, before the first transaction", null, null, false, false],
  ["custody alone, while there is no registry", config, null, true, false],
  ["the attestor program alone, while there is no config", null, registry, false, true],
  ["not custody, when its config names another program", ofAnother, registry, false, true],
  ["not the attestor program, when its registry names another", config, forAnother, true, false],
  ["neither, when the accounts cannot be read", unread(config), unread(registry), false, false],
] as const)("initialised is %s", (_which, own, other, custody, attestor) => {
  expect(initialisedBy(own, other, LOCAL_DEPLOYMENT, DOMAIN)).toEqual({
    custody,
    attestor,
    isOfOtherLedger: false,
  });
});

test("a config that was made for another ledger says so", () => {
  const foreign = naming(config, CUSTODY_ACCOUNTS.CustodyConfig.at.domain);
  expect(initialisedBy(foreign, registry, LOCAL_DEPLOYMENT, DOMAIN)).toEqual({
    custody: true,
    attestor: true,
    isOfOtherLedger: true,
  });
});

/** Terms over a node that counts its questions and names these prices. */
const termsOver = (prices: ReadonlyArray<bigint>) => {
  let asked = 0;
  let askedPrices = 0;
  const blockspace = Blockspace.of({
    latestBlockhash: Effect.sync(() => {
      asked += 1;
      return {
        blockhash: addressFromBytes(new Uint8Array(32).fill(asked)),
        lastValidBlockHeight: 150n,
        slot: 1n,
      };
    }),
    recentPrices: () =>
      Effect.sync(() => {
        askedPrices += 1;
        return prices;
      }),
  });
  const run = <A>(
    use: (terms: Effect.Success<typeof makeTransactionTerms>) => Effect.Effect<A, unknown>,
  ) =>
    Effect.runPromise(
      Effect.flatMap(makeTransactionTerms, use).pipe(
        Effect.provideService(Blockspace, blockspace),
        Effect.provideService(Instance, testInstance()),
        Effect.provideServiceEffect(Scope.Scope, Scope.make()),
        Effect.provide(patientClock()),
      ),
    );
  return { run, asked: () => asked, askedPrices: () => askedPrices };
};

test("callers within five seconds share a blockhash, and within a minute the prices", async () => {
  const { run, asked, askedPrices } = termsOver([]);
  const [first, second, third] = await run((terms) =>
    Effect.gen(function* () {
      const both = yield* Effect.all([terms.read, terms.read], { concurrency: "unbounded" });
      yield* TestClock.adjust(4_999);
      const late = yield* terms.read;
      yield* TestClock.adjust(1);
      return [both[0], late, yield* terms.read];
    }),
  );
  expect(second?.blockhash).toBe(first?.blockhash ?? "");
  expect(third?.blockhash).not.toBe(first?.blockhash ?? "");
  expect([asked(), askedPrices()]).toEqual([2, 1]);
});

test("prices are asked for again after a minute", async () => {
  const { run, askedPrices } = termsOver([]);
  const counts = await run((terms) =>
    Effect.gen(function* () {
      yield* terms.read;
      yield* TestClock.adjust(59_999);
      yield* terms.read;
      const within = askedPrices();
      yield* TestClock.adjust(1);
      yield* terms.read;
      return [within, askedPrices()];
    }),
  );
  expect(counts).toEqual([1, 2]);
});

test("a blockhash that was read is known for half a minute, and no other is", async () => {
  const { run } = termsOver([]);
  const known = await run((terms) =>
    Effect.gen(function* () {
      const { blockhash } = yield* terms.read;
      yield* TestClock.adjust(6_000);
      // A newer one does not displace it.
      yield* terms.read;
      yield* TestClock.adjust(23_999);
      const within = yield* terms.known(blockhash);
      const other = yield* terms.known(addressFromBytes(new Uint8Array(32)));
      yield* TestClock.adjust(1);
      return [within, other, yield* terms.known(blockhash)];
    }),
  );
  expect(known).toMatchObject([{ lastValidBlockHeight: 150n, slot: 1n }, null, null]);
});

test.each([
  { prices: [], usualPrice: 0n, urgentPrice: 0n },
  { prices: [7n], usualPrice: 7n, urgentPrice: 7n },
  { prices: [9n, 0n, 3n, 1n, 2n], usualPrice: 3n, urgentPrice: 9n },
  { prices: [2n ** 60n, 1n], usualPrice: 1n, urgentPrice: 5_000_000n },
])(
  "of the prices $prices the usual one is $usualPrice and the urgent one $urgentPrice",
  async ({ prices, ...expected }) => {
    const { run } = termsOver(prices);
    expect(await run((terms) => terms.read)).toMatchObject(expected);
  },
);
