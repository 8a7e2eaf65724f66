import { expect, test } from "bun:test";
import type { LedgerAccount } from "../../../../core/domain/ledger/account.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { ATTESTOR_ACCOUNTS } from "../../../../core/protocol/generated/attestor.ts";
import { CUSTODY_ACCOUNTS } from "../../../../core/protocol/generated/custody.ts";
import { domainOf } from "../../../../core/protocol/instructions/attestation.ts";
import { initialisedBy } from "../../../../core/use-cases/service/program-status.ts";
import { TEST_GENESIS_HASH } from "../../../arbitraries/test-ledger.ts";
import { custodyConfigAccount } from "../../../doubles/custody-config.ts";
import { registryOf } from "../../../doubles/registry.ts";

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
