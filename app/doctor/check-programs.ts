import { Effect } from "effect";
import { projectCommand } from "../../core/domain/project-command.ts";
import type { Deployment, ProgramPins } from "../../core/domain/ledger/deployment.ts";
import { decodeProgramDataAccount, deployedHash } from "../../core/protocol/accounts/loader-v3.ts";
import { programDataAddress } from "../../core/protocol/addresses/addresses.ts";
import { domainOf } from "../../core/protocol/instructions/attestation.ts";
import { initialisedBy, ownAccounts } from "../../core/use-cases/service/program-status.ts";
import { Ledger } from "../../ports/ledger/ledger.ts";
import { Problem } from "./finding.ts";

/** What is said of a node that tells no accounts. */
export const NO_ACCOUNTS = "the node does not tell accounts; use another";

const unknown = () => new Problem({ message: NO_ACCOUNTS, isUnavailable: true });

/** What stands between these programs and `/ready`; null for nothing. */
const faultOf = (
  initialised: ReturnType<typeof initialisedBy>,
  swapped: ReturnType<typeof initialisedBy>,
): string | null => {
  if (initialised.custody && initialised.attestor)
    return initialised.isOfOtherLedger
      ? "custody was initialised for another ledger, and nothing signed for this one is good there; deploy the programs here"
      : null;
  if (swapped.custody && swapped.attestor)
    return "CUSTODY_PROGRAM_ID and ATTESTOR_PROGRAM_ID are each other's; swap them";
  const names = Object.entries({
    CUSTODY_PROGRAM_ID: initialised.custody,
    ATTESTOR_PROGRAM_ID: initialised.attestor,
  })
    .filter(([, isThere]) => !isThere)
    .map(([name]) => name);
  return `${names.join(" and ")}: not initialised for each other; check the ids, or run ${projectCommand("deploy")}`;
};

/**
 * Reads what `/ready` reads: whether both programs are there, can be called, are initialised for each other and for
 * this ledger, and are the pinned ones. Fails with a `Problem` otherwise.
 */
export const checkPrograms = Effect.fnUntraced(function* (
  deployment: Deployment,
  pins: ProgramPins,
) {
  const ledger = yield* Ledger;
  const { custodyProgram, attestorProgram } = deployment;
  const other: Deployment = { custodyProgram: attestorProgram, attestorProgram: custodyProgram };
  const programs = [
    { name: "custody", id: custodyProgram, pins: pins.custody, setting: "CUSTODY_PROGRAM" },
    { name: "attestor", id: attestorProgram, pins: pins.attestor, setting: "ATTESTOR_PROGRAM" },
  ] as const;
  const genesisHash = yield* Effect.mapError(ledger.genesisHash, unknown);
  const { value } = yield* ledger
    .readAccounts(
      [
        ...programs.flatMap(({ id }) => [id, programDataAddress(id)]),
        ...ownAccounts(deployment),
        ...ownAccounts(other),
      ],
      "confirmed",
      // The whole ELF is needed for its hash.
      Number.POSITIVE_INFINITY,
    )
    .pipe(Effect.mapError(unknown));
  const own = (at: number, of: Deployment) =>
    initialisedBy(value[at] ?? null, value[at + 1] ?? null, of, domainOf({ ...of, genesisHash }));
  const told = programs.map(({ name, id, pins: wanted, setting }, at) => {
    const [program, data] = [value[2 * at] ?? null, value[2 * at + 1] ?? null];
    if (program === null || data === null || decodeProgramDataAccount(data) === undefined)
      return { ok: false, text: `no program at ${id}, which ${setting}_ID names` };
    if (!program.executable)
      return { ok: false, text: `${id}, which ${setting}_ID names, cannot be called` };
    const hash = deployedHash(data);
    if (wanted.length === 0)
      return {
        ok: true,
        text: `${name} ${hash}, not pinned: ${setting}_SHA256 would refuse another`,
      };
    return hash !== null && wanted.includes(hash)
      ? { ok: true, text: `${name} ${hash}, as ${setting}_SHA256 pins it` }
      : {
          ok: false,
          text: `${name} ${hash} is not in ${setting}_SHA256; start no service on it, or add the hash where the upgrade is wanted`,
        };
  });
  const fault = faultOf(own(4, deployment), own(6, other));
  const text = [...told.map((each) => each.text), ...(fault === null ? [] : [fault])].join("; ");
  if (fault !== null || told.some(({ ok }) => !ok)) return yield* new Problem({ message: text });
  return `${text}; initialised for each other and this ledger`;
});
