import { expect, test } from "bun:test";
import fc from "fast-check";
import { createEscrowAddresses } from "../../../../core/protocol/addresses/addresses.ts";
import { deployedIdl } from "../../../../core/protocol/addresses/deployed-idl.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { addressToBytes } from "../../../../core/domain/address.ts";
import { hash32ToBytes } from "../../../../core/domain/hash32.ts";
import { parseIdl } from "../../../../programs/idl.ts";
import attestor from "../../../../programs/attestor.idl.json" with { type: "json" };
import custody from "../../../../programs/custody.idl.json" with { type: "json" };
import { anyAddress, anyDeployment, anyHash32 } from "../../../arbitraries/ledger-values.ts";
import { runs } from "../../../arbitraries/runs.ts";
import { idlAddresses } from "../../../programs/fixture/idl-addresses.ts";

test("the local deployment's IDLs are the files", () => {
  expect(deployedIdl(custody, LOCAL_DEPLOYMENT)).toEqual(custody);
  expect(deployedIdl(attestor, LOCAL_DEPLOYMENT)).toEqual(attestor);
});

test("another deployment's IDL derives that deployment's addresses", () =>
  fc.assert(
    fc.asyncProperty(
      anyDeployment,
      anyAddress,
      anyAddress,
      anyAddress,
      anyHash32,
      async (deployment, agentOwner, merchant, mint, taskHash) => {
        const idl = parseIdl(JSON.stringify(deployedIdl(custody, deployment)));
        expect<string>(idl.address).toBe(deployment.custodyProgram);
        const found = await idlAddresses(idl, "create_escrow", {
          accounts: { agent_owner: agentOwner, merchant_wallet: merchant, mint },
          args: { task_hash: hash32ToBytes(taskHash) },
          field: () => agentOwner,
        });
        const expected = createEscrowAddresses(deployment, {
          agentOwner,
          merchant,
          mint,
          taskHash,
        });
        expect(found["escrow"]?.address).toBe(expected.escrow.address);
        expect(found["merchant"]?.address).toBe(expected.merchantAccount.address);
        expect(found["vault"]?.address).toBe(expected.vaultTokenAccount);
        expect(found["config"]?.address).toBe(expected.config);
        const release = idl.instructions.find(({ name }) => name === "release_escrow");
        expect<string | undefined>(
          release?.accounts.find(({ name }) => name === "attestor_program")?.address,
        ).toBe(deployment.attestorProgram);
      },
    ),
    runs(20),
  ));

test("another deployment's IDLs contain none of the local ledger's addresses", () =>
  fc.assert(
    fc.property(anyDeployment, (deployment) => {
      for (const idl of [custody, attestor]) {
        const there = JSON.stringify(deployedIdl(idl, deployment));
        for (const program of Object.values(LOCAL_DEPLOYMENT)) {
          expect(there).not.toContain(program);
          expect(there).not.toContain(addressToBytes(program).join());
        }
        expect(Object.keys(JSON.parse(there) as object)).toEqual(Object.keys(idl));
      }
    }),
    runs(20),
  ));
