import { resolve } from "node:path";
import { importFolder, importPackets } from "../../adapters/files/operator-files.ts";
import type { Address } from "../../core/domain/address.ts";
import { hash32FromBytes } from "../../core/domain/hash32.ts";
import { sha256 } from "../../core/domain/sha256.ts";
import {
  type ParsedPacket,
  parseEvidencePacket,
} from "../../core/protocol/evidence/evidence-packet.ts";
import type { CommandIo } from "../../client/command-line/command-io.ts";
import {
  askService,
  EX_DATAERR,
  EX_NOINPUT,
  EX_UNAVAILABLE,
  endWith,
  parseCommandLine,
  runAsProcess,
  readPacket,
  SERVICE_HERE,
  serviceUrl,
} from "../command-line/command-line.ts";

const HELP = `Gives a service the account bytes of archived escrows that it has not seen, out of evidence packets. Only bytes with
the digest that the ledger keeps of the escrow are taken, whoever made the packet.

usage: bun run cli import-escrow PACKET... [options]

  PACKET          a packet as GET /v1/evidence/{pda} answers it: a file, an address such as
                  https://peer.example/v1/evidence/<escrow>, or - for standard input
  --data-dir DIR  the service's DATA_DIR; of replicas, each one's   ($DATA_DIR, otherwise ./data)
  --service URL   where the service is                              (${SERVICE_HERE})
  --help          this text

Ends with 0 when the service shows every escrow, 64 for a wrong command line, 65 when a packet is refused (then none is
imported), 66 when one cannot be read, 69 when the service does not answer or does not take them.
`;

/** What the service shows at an escrow's address. */
type Shown = { readonly status: number; readonly digest: string | null };

const packetFrom = async (from: string): Promise<{ bytes: Uint8Array; parsed: ParsedPacket }> => {
  const bytes = await readPacket(from).catch((cause: unknown) =>
    endWith(
      EX_NOINPUT,
      `${from} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
    ),
  );
  const parsed = parseEvidencePacket(bytes);
  return "value" in parsed
    ? { bytes, parsed: parsed.value }
    : endWith(EX_DATAERR, `${from} is no evidence packet: ${parsed.fault}`);
};

/** Runs the command. */
export const main = async (args: ReadonlyArray<string>, io: CommandIo): Promise<number> => {
  const { values, positionals } = parseCommandLine(
    args,
    HELP,
    {
      "data-dir": { type: "string", default: io.env["DATA_DIR"] ?? "./data" },
      service: { type: "string", default: SERVICE_HERE },
    },
    ["PACKET..."],
  );
  const service = serviceUrl(values.service);

  const shownAt = async (escrow: Address): Promise<Shown> => {
    const answer = await askService(service, `/v1/escrows/${escrow}`);
    const body = (await answer.json().catch(() => ({}))) as {
      readonly data?: { readonly archived?: { readonly digest?: string } | null };
      readonly archived?: { readonly digest?: string };
    };
    const digest = body.archived?.digest ?? body.data?.archived?.digest ?? null;
    return { status: answer.status, digest };
  };

  /**
   * Ends the command unless a packet's bytes are those that the ledger kept the digest of. False where the service has
   * them.
   */
  const isMissing = async (from: string, { escrowAddress, account }: ParsedPacket) => {
    const { status, digest } = await shownAt(escrowAddress);
    if (digest === null && ![200, 404, 410, 422].includes(status))
      endWith(EX_UNAVAILABLE, `${service} answered ${status} for the escrow ${escrowAddress}`);
    if (digest === null && status === 200)
      endWith(
        EX_DATAERR,
        `${from}: the escrow ${escrowAddress} is not archived; the service reads it from the ledger`,
      );
    if (digest === null)
      endWith(EX_DATAERR, `${from}: the service's ledger has no escrow ${escrowAddress}`);
    if (digest !== hash32FromBytes(sha256(account.data)))
      endWith(
        EX_DATAERR,
        `${from}: its account bytes do not have the digest that the ledger keeps of ${escrowAddress}; take the packet from another source`,
      );
    return status === 410;
  };

  const missing = new Map<Address, Uint8Array>();
  for (const from of positionals) {
    const { bytes, parsed } = await packetFrom(from);
    if (await isMissing(from, parsed)) missing.set(parsed.escrowAddress, bytes);
    else io.stdout.write(`${parsed.escrowAddress} is known already\n`);
  }
  if (missing.size > 0) {
    const dataDir = resolve(values["data-dir"]);
    await importPackets(dataDir, missing).catch((cause: unknown) =>
      endWith(
        EX_NOINPUT,
        `${importFolder(dataDir)} cannot be written: ${cause instanceof Error ? cause.message : String(cause)}`,
      ),
    );
    const synced = await askService(service, "/v1/indexer/sync", "POST");
    if (synced.status !== 202)
      endWith(
        EX_UNAVAILABLE,
        `The packets wait in ${importFolder(dataDir)}, but the service's sync answered ${synced.status}; its next sync takes them`,
      );
    for (const escrow of missing.keys()) {
      if ((await shownAt(escrow)).status !== 200)
        endWith(
          EX_UNAVAILABLE,
          `${escrow} waits in ${importFolder(dataDir)}, but the service does not take it from there: give its DATA_DIR with --data-dir`,
        );
      io.stdout.write(`${escrow} is imported\n`);
    }
  }
  return 0;
};

if (import.meta.main) await runAsProcess(main);
