import { addressToBytes } from "../../../core/domain/address.ts";
import type { Json } from "../../../core/domain/encoding/canonical-json.ts";
import { attested } from "../../arbitraries/evidence.ts";
import type { Vector } from "./accepting-vectors.ts";
import { goldenEscrow, inside, invented, lie, withBytes } from "./packet-edits.ts";
import { rejects } from "./rejects.ts";

const le = (value: bigint): ReadonlyArray<number> => [
  ...new Uint8Array(new BigInt64Array([value]).buffer),
];

/** A released escrow of which every time is 0; a settled one has a time above 0. */
const atTheEpoch = (): string => {
  const { escrow } = goldenEscrow("fulfilled");
  const { attestation } = escrow;
  if (attestation === null) throw new Error("a fulfilled escrow is attested");
  return invented(
    attested({
      ...escrow,
      createdAt: 0n,
      expiresAt: 3600n,
      settledAt: 0n,
      attestation: { ...attestation, attestedAt: 0n },
    }),
  );
};

/** Packets whose account bytes are not an escrow, or are an escrow of another address. */
export const accountVectors = (): ReadonlyArray<Vector> => {
  const { escrow } = goldenEscrow("fulfilled");
  const { createdAt, expiresAt } = escrow;
  const on = (name: string, why: string, packet: string) =>
    rejects(name, why, "account_bytes", packet);
  const system = "11111111111111111111111111111111";
  const attestor = addressToBytes(escrow.attestor);
  return [
    on(
      "owned-by-another-program",
      "an account of the System program",
      lie((data) => void (inside(data, "account")["owner"] = system)),
    ),
    on(
      "account-too-short",
      "415 bytes",
      invented(escrow, { bytes: (all) => all.subarray(0, 415) }),
    ),
    on(
      "account-too-long",
      "417 bytes",
      invented(escrow, { bytes: (all) => new Uint8Array([...all, 0]) }),
    ),
    on("another-discriminator", "not the discriminator of an escrow", withBytes(0, [0])),
    on("account-version-2", "version 2", withBytes(8, [2])),
    on("account-version-4", "version 4", withBytes(8, [4])),
    on("state-4", "a state that does not exist", withBytes(10, [4])),
    on("reserved-byte-set", "a reserved byte that is not zero", withBytes(401, [1])),
    on("settled-by-4", "settled in a way that does not exist", withBytes(400, [4])),
    on("settled-by-nobody", "settled, and yet by none of the three ways", withBytes(400, [0])),
    on(
      "cancelled-yet-released",
      "a single payment, released by a cancellation",
      withBytes(400, [3]),
    ),
    on("refunded-before-its-end", "refunded before it expired", withBytes(400, [2], "cancelled")),
    on("cancelled-at-its-end", "cancelled after it expired", withBytes(400, [3], "refunded")),
    on("two-deliveries", "two deliveries of a single payment", withBytes(12, [2])),
    on("delivered-yet-unpaid", "a delivery, and nothing released", withBytes(12, [1], "refunded")),
    on("closed-payment", "a single payment with an end of its own", withBytes(408, le(expiresAt))),
    on(
      "closed-after-its-expiry",
      "a session that closes after it expires",
      withBytes(408, le(expiresAt + 1n), "session-open"),
    ),
    on(
      "closed-when-created",
      "a session that closes when it is created",
      withBytes(408, le(createdAt), "session-open"),
    ),
    on(
      "closed-within-899-seconds",
      "a session that its agent closed, and that ends less than 900 s after its creation",
      invented({ ...goldenEscrow("session-open").escrow, closesAt: createdAt + 899n }),
    ),
    on(
      "settled-before-closed",
      "a session that was cancelled a second before its agent closed it",
      invented({
        ...goldenEscrow("session-closed").escrow,
        settledBy: "cancel",
        settledAt: createdAt + 99n,
      }),
    ),
    on(
      "settled-31-seconds-before-attested",
      "a session that was cancelled before the ledger can have taken its last capture's attestation",
      invented({ ...goldenEscrow("session-cancelled").escrow, settledAt: createdAt + 269n }),
    ),
    on(
      "released-31-seconds-before-attested",
      "released on an attestation that is further ahead than the ledger takes it",
      invented({ ...escrow, settledAt: createdAt + 59n }),
    ),
    on(
      "released-on-301-seconds",
      "released on an attestation that is older than the ledger takes it",
      invented({ ...escrow, settledAt: createdAt + 391n }),
    ),
    on(
      "captured-without-attestation",
      "a session of which something was captured, and nothing attested",
      withBytes(
        216,
        Array.from({ length: 136 }, (_, i) => (i < 32 || i >= 64 ? 0 : (attestor[i - 32] ?? 0))),
        "session-open",
      ),
    ),
    on("ttl-zero", "it expires when it is created", withBytes(200, le(createdAt))),
    on(
      "ttl-too-long",
      "it lives a second longer than seven days",
      withBytes(200, le(createdAt + 604_801n)),
    ),
    on("created-before-1970", "a negative time", withBytes(192, le(-1n))),
    on("amount-zero", "nothing was escrowed", withBytes(176, le(0n))),
    on(
      "released-above-amount",
      "more was released than escrowed",
      withBytes(184, le(escrow.amount + 1n)),
    ),
    on("pending-yet-settled", "Pending, with everything that a release leaves", withBytes(10, [0])),
    on("fulfilled-in-part", "Fulfilled, and yet not all was released", withBytes(184, le(1n))),
    on(
      "partly-fulfilled-whole",
      "PartiallyFulfilled, and yet all was released",
      withBytes(184, le(2_500_000n), "partially-fulfilled"),
    ),
    on(
      "no-attestor",
      "no attestor is recorded",
      withBytes(
        248,
        Array.from({ length: 32 }, () => 0),
      ),
    ),
    on("never-numbered", "its creation has no number", withBytes(352, le(0n))),
    on("settled-without-number", "its settlement has no number", withBytes(360, le(0n))),
    on(
      "settled-as-numbered",
      "its settlement has the number of its creation",
      withBytes(360, le(escrow.createdSeq)),
    ),
    on(
      "pending-yet-numbered",
      "Pending, and yet numbered twice",
      withBytes(360, le(2n), "pending"),
    ),
    on(
      "released-at-expiry",
      "released at the second in which it expired",
      withBytes(208, le(expiresAt)),
    ),
    on(
      "settled-before-created",
      "settled before it was created",
      withBytes(208, le(createdAt - 1n)),
    ),
    on("settled-at-0", "created, attested and settled in the first second of 1970", atTheEpoch()),
    on(
      "attested-before-created",
      "attested before it was created",
      withBytes(280, le(createdAt - 1n)),
    ),
    on(
      "attested-at-expiry",
      "attested at the second in which it expired",
      withBytes(280, le(expiresAt)),
    ),
    on(
      "refunded-yet-attested",
      "Refunded, and yet with an attestation",
      withBytes(216, [1], "refunded"),
    ),
    rejects(
      "escrow-elsewhere",
      "the address of another escrow",
      "escrow_address",
      lie(
        (data) =>
          void (inside(data, "escrow")["escrow_pda"] = goldenEscrow("refunded").escrow.address),
      ),
    ),
    rejects(
      "another-bump",
      "a bump that derives another address",
      "escrow_address",
      withBytes(9, [escrow.bump - 1]),
    ),
    rejects(
      "another-vault-bump",
      "a vault bump that derives another address",
      "escrow_address",
      withBytes(11, [escrow.vaultBump - 1]),
    ),
    rejects(
      "another-task",
      "another task hash in the account",
      "escrow_address",
      withBytes(144, [0]),
    ),
  ];
};

const FIELDS: ReadonlyArray<readonly [string, Json]> = [
  ["bump", 255],
  ["state", "Refunded"],
  ["agent_owner", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["merchant", "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T"],
  ["merchant_pda", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["mint", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["vault_token_account", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["rent_payer", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["attestor", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["task_hash", "00".repeat(32)],
  ["amount_stroops", "2500001"],
  ["released_stroops", "2499999"],
  ["refunded_stroops", "1"],
  ["created_at", "2026-09-01T12:00:01Z"],
  ["expires_at", "2026-09-02T12:00:00Z"],
  ["settled_at", null],
  ["settled_by", "cancel"],
  ["closes_at", "2026-09-01T12:30:00Z"],
  ["deliveries", 2],
  ["session_key", "7cVfgArCheMR6Cs4t6vz5rfnqd56vZq4ndaBrY5xkxXy"],
  ["created_seq", "2"],
  ["settled_seq", "3"],
];

/** Packets whose decoded fields differ from the account. */
export const fieldVectors = (): ReadonlyArray<Vector> => [
  ...FIELDS.map(([name, value]) =>
    rejects(
      `escrow-${name}`,
      `escrow.${name} is not that of the account`,
      "escrow_fields",
      lie((data) => void (inside(data, "escrow")[name] = value)),
    ),
  ),
  rejects(
    "escrow-unknown-member",
    "an unknown member in escrow",
    "escrow_fields",
    lie((data) => void (inside(data, "escrow")["delivered"] = true)),
  ),
  rejects(
    "escrow-amount_usdc",
    "an amount in a unit that no account names",
    "escrow_fields",
    lie((data) => void (inside(data, "escrow")["amount_usdc"] = "2.500000")),
  ),
  rejects(
    "escrow-symbol",
    "a symbol that no account names",
    "escrow_fields",
    lie((data) => void (inside(data, "escrow")["symbol"] = "USDC")),
  ),
  rejects(
    "escrow-amount-number",
    "an amount as a number",
    "escrow_fields",
    lie((data) => void (inside(data, "escrow")["amount_stroops"] = 2_500_000)),
  ),
  rejects(
    "purpose-says-delivered",
    "a purpose that claims a delivery",
    "escrow_fields",
    lie((data) => void (data["purpose"] = "Proof that the goods were delivered.")),
  ),
];
