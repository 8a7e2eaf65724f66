import { Effect, Layer, Redacted, Stream } from "effect";
import {
  address,
  createSolanaRpc,
  fixDecoderSize,
  getAddressDecoder,
  getBase64Encoder,
  getBytesDecoder,
  getI64Decoder,
  getStructDecoder,
  getU64Decoder,
  getU8Decoder,
} from "@solana/kit";
import { sha256Bun } from "../../../adapters/bun/sha256.ts";
import { ledgerSolanaRpc } from "../../../adapters/solana-rpc/ledger-solana-rpc.ts";
import { nodePool } from "../../../adapters/solana-rpc/pool/node-pool.ts";
import { solanaRpcConfig } from "../../../adapters/solana-rpc/pool/pool-config.ts";
import type { LedgerAccount } from "../../../core/domain/ledger/account.ts";
import { provideSha256 } from "../../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../../core/protocol/addresses/local-deployment.ts";
import { fieldsOf } from "../../../core/protocol/accounts/byte-fields.ts";
import {
  indexedKinds,
  readProgramAccount,
} from "../../../core/protocol/accounts/program-account.ts";
import { Ledger } from "../../../ports/ledger/ledger.ts";

// Run as a process. Reads all escrows of the node at argv[2] and prints their number, the milliseconds without the
// start of the process, and the peak memory. argv[3] is the way: `kit` and `fields` decode the fields of each account,
// `checked` also validates them and derives the address, like a sync.
const [url = "", way = ""] = process.argv.slice(2);
const program = LOCAL_DEPLOYMENT.custodyProgram;

const bytes = (length: number) => fixDecoderSize(getBytesDecoder(), length);
const key = getAddressDecoder();
const escrowDecoder = getStructDecoder([
  ["discriminator", bytes(8)],
  ["version", getU8Decoder()],
  ["bump", getU8Decoder()],
  ["state", getU8Decoder()],
  ["reserved", bytes(5)],
  ["agentOwner", key],
  ["merchant", key],
  ["mint", key],
  ["rentPayer", key],
  ["taskHash", bytes(32)],
  ["amount", getU64Decoder()],
  ["released", getU64Decoder()],
  ["createdAt", getI64Decoder()],
  ["expiresAt", getI64Decoder()],
  ["settledAt", getI64Decoder()],
  ["proofHash", bytes(32)],
  ["attestor", key],
  ["attestedAt", getI64Decoder()],
  ["signature", bytes(64)],
]);

const withKit = async (): Promise<number> => {
  const rpc = createSolanaRpc(url);
  const { value } = await rpc
    .getProgramAccounts(address(program), { encoding: "base64", withContext: true })
    .send();
  const base64 = getBase64Encoder();
  let count = 0;
  for (const { account } of value)
    if (escrowDecoder.decode(base64.encode(account.data[0])).version === 1) count += 1;
  return count;
};

/** The same fields, read like the service's own codecs do. */
const fieldsIn = (data: Uint8Array) => {
  const fields = fieldsOf(data);
  return {
    discriminator: fields.bytes(0, 8),
    version: fields.u8(8),
    bump: fields.u8(9),
    state: fields.u8(10),
    reserved: fields.bytes(11, 5),
    agentOwner: fields.address(16),
    merchant: fields.address(48),
    mint: fields.address(80),
    rentPayer: fields.address(112),
    taskHash: fields.bytes(144, 32),
    amount: fields.u64(176),
    released: fields.u64(184),
    createdAt: fields.i64(192),
    expiresAt: fields.i64(200),
    settledAt: fields.i64(208),
    proofHash: fields.bytes(216, 32),
    attestor: fields.address(248),
    attestedAt: fields.i64(280),
    signature: fields.bytes(288, 64),
  };
};

const isEscrow = {
  fields: ({ data }: LedgerAccount): boolean => fieldsIn(data).version === 1,
  checked: (account: LedgerAccount): boolean => {
    const read = readProgramAccount(account, LOCAL_DEPLOYMENT);
    return read?.kind === "escrow" && "value" in read.decoded;
  },
};

const withOurs = async (isGood: (account: LedgerAccount) => boolean): Promise<number> => {
  let count = 0;
  provideSha256(sha256Bun);
  const escrows = indexedKinds(LOCAL_DEPLOYMENT).find((kind) => kind.program === program);
  if (escrows === undefined) throw new Error("custody has no accounts that are indexed");
  const read = Ledger.use((ledger) =>
    Stream.runForEach(ledger.programAccounts(escrows), ({ value }) =>
      Effect.sync(() => {
        for (const account of value) if (isGood(account)) count += 1;
      }),
    ),
  );
  const config = solanaRpcConfig([Redacted.make(new URL(url))]);
  await Effect.runPromise(Effect.provide(read, Layer.provide(ledgerSolanaRpc, nodePool(config))));
  return count;
};

const startMs = performance.now();
const count =
  way === "kit"
    ? await withKit()
    : await withOurs(way === "checked" ? isEscrow.checked : isEscrow.fields);
const ms = performance.now() - startMs;
const peakBytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(`${JSON.stringify({ count, ms, peakBytes })}\n`);
process.exit(0);
