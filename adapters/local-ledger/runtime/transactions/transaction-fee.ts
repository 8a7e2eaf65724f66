import {
  ED25519_PROGRAM,
  COMPUTE_BUDGET_PROGRAM,
} from "../../../../core/protocol/addresses/well-known-addresses.ts";
import type { WireMessage } from "../../../../core/protocol/transaction/wire-message.ts";

/** Lamports per signature (Agave `fee_calculator.rs`: DEFAULT_TARGET_LAMPORTS_PER_SIGNATURE). */
const LAMPORTS_PER_SIGNATURE = 5000n;
/**
 * Compute units granted per built-in instruction, per other instruction, and to one transaction at most (SIMD-0170,
 * Agave `execution_budget.rs`).
 */
const BUILTIN_UNITS = 3000n;
const PROGRAM_UNITS = 200_000n;
const MAX_UNITS = 1_400_000n;
const MICRO_LAMPORTS = 1_000_000n;

const PRECOMPILES: ReadonlySet<string> = new Set([
  ED25519_PROGRAM,
  "KeccakSecp256k11111111111111111111111111111",
  "Secp256r1SigVerify1111111111111111111111111",
]);
/** Agave `builtins-default-costs`: programs of the runtime that are not migrated to BPF. */
const BUILTINS: ReadonlySet<string> = new Set([
  ...PRECOMPILES,
  COMPUTE_BUDGET_PROGRAM,
  "11111111111111111111111111111111",
  "Vote111111111111111111111111111111111111111",
  "BPFLoader1111111111111111111111111111111111",
  "BPFLoader2111111111111111111111111111111111",
  "BPFLoaderUpgradeab1e11111111111111111111111",
  "LoaderV411111111111111111111111111111111111",
]);

const view = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);

/** The compute budget of a message: its requested or default units, and their price. */
export const computeBudgetOf = ({
  instructions,
}: WireMessage): { readonly units: bigint; readonly microLamportsPerUnit: bigint } => {
  let grantedUnits = 0n;
  let limit: bigint | undefined;
  let microLamportsPerUnit = 0n;
  for (const { program, data } of instructions) {
    grantedUnits += BUILTINS.has(program) ? BUILTIN_UNITS : PROGRAM_UNITS;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    if (data[0] === 2 && data.length >= 5) limit = BigInt(view(data).getUint32(1, true));
    if (data[0] === 3 && data.length >= 9) microLamportsPerUnit = view(data).getBigUint64(1, true);
  }
  const asked = limit ?? grantedUnits;
  return { units: asked < MAX_UNITS ? asked : MAX_UNITS, microLamportsPerUnit };
};

/** The fee in lamports: signatures, those of precompile instructions included, and the priority fee. */
export const transactionFee = (message: WireMessage): bigint => {
  const { units, microLamportsPerUnit } = computeBudgetOf(message);
  const signatures = message.instructions
    .filter(({ program }) => PRECOMPILES.has(program))
    .reduce((sum, { data }) => sum + BigInt(data[0] ?? 0), BigInt(message.signerCount));
  const priority = (units * microLamportsPerUnit + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return signatures * LAMPORTS_PER_SIGNATURE + priority;
};
