import { address, type Address, addressToBytes } from "../../domain/address.ts";
import type { Deployment } from "../../domain/ledger/deployment.ts";

/**
 * The addresses of both programs on a local ledger, which are also the `address` in their IDLs. The texts were chosen,
 * not generated: nobody holds a key to them, so nothing can be deployed there on a public cluster.
 */
export const LOCAL_DEPLOYMENT: Deployment = {
  custodyProgram: address("EvidenceCustody1111111111111111111111111111"),
  attestorProgram: address("EvidenceAttestor111111111111111111111111111"),
};

/**
 * An IDL of this project for a deployment. Its program ids replace the local ledger's everywhere in the IDL, as text or
 * as the 32 bytes of a seed. Otherwise a generated client would derive addresses under programs of another ledger.
 */
export const deployedIdl = <Idl>(idl: Idl, deployment: Deployment): Idl => {
  const ids = new Map<string, Address>();
  for (const program of ["custodyProgram", "attestorProgram"] as const) {
    ids.set(LOCAL_DEPLOYMENT[program], deployment[program]);
    ids.set(seedOf(LOCAL_DEPLOYMENT[program]), deployment[program]);
  }
  const replaced = (value: unknown): unknown => {
    if (typeof value === "string") return ids.get(value) ?? value;
    if (Array.isArray(value)) {
      const id = value.length === 32 ? ids.get(value.join()) : undefined;
      return id === undefined ? value.map(replaced) : [...addressToBytes(id)];
    }
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, replaced(each)]));
  };
  return replaced(idl) as Idl;
};

const seedOf = (program: Address): string => addressToBytes(program).join();
