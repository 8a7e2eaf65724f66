import { encodeEscrowAccount } from "../../../core/protocol/accounts/escrow-account.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { worldEscrow } from "../../simulation/world-escrow.ts";
import { accountText } from "../../world/chain-node.ts";

/** Offset of the byte by which a sync splits a scan. */
export const AGENT_OWNER_AT = 16;

const CHUNK = 256 * 1024;
const COMMA = Buffer.from(",");

/** The records of a program's accounts, as a node writes them, in chunks. */
export type Part = ReadonlyArray<Uint8Array>;

/** The records of a world's escrows, grouped by the first byte of their agent's wallet. */
export const snapshotParts = (escrows: number): ReadonlyArray<Part> => {
  const parts: Array<Array<Uint8Array>> = Array.from({ length: 256 }, () => []);
  const open = parts.map(() => "");
  for (let number = 0; number < escrows; number++) {
    const escrow = worldEscrow(number);
    const data = encodeEscrowAccount(escrow);
    const account = accountText({ owner: LOCAL_DEPLOYMENT.custodyProgram, data });
    const at = data[AGENT_OWNER_AT] ?? 0;
    const text = open[at] ?? "";
    const separator = text === "" && parts[at]?.length === 0 ? "" : ",";
    open[at] = `${text}${separator}{"account":${account},"pubkey":"${escrow.address}"}`;
    if (text.length < CHUNK) continue;
    parts[at]?.push(Buffer.from(open[at] ?? ""));
    open[at] = "";
  }
  for (const [at, text] of open.entries()) if (text !== "") parts[at]?.push(Buffer.from(text));
  return parts;
};

/** The answer to request `id`, made of these parts. */
export function* snapshotAnswer(id: number, parts: ReadonlyArray<Part>): Generator<Uint8Array> {
  yield Buffer.from(
    `{"jsonrpc":"2.0","result":{"context":{"apiVersion":"3.0.0","slot":1000},"value":[`,
  );
  let isFirst = true;
  for (const part of parts) {
    if (part.length === 0) continue;
    if (!isFirst) yield COMMA;
    isFirst = false;
    yield* part;
  }
  yield Buffer.from(`]},"id":${id}}`);
}
