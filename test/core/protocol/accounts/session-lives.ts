import { encodeBase64 } from "../../../../core/domain/encoding/base64.ts";
import { endOf, type Escrow } from "../../../../core/domain/escrow/escrow.ts";
import { hash32FromBytes } from "../../../../core/domain/hash32.ts";
import { encodeEscrowAccount, termsOf } from "../../../../core/protocol/accounts/escrow-account.ts";
import { domainOf } from "../../../../core/protocol/instructions/attestation.ts";
import { ed25519Instruction } from "../../../../core/protocol/instructions/ed25519-instruction.ts";
import { NETWORK } from "../../../arbitraries/evidence.ts";
import { captured, closed, settled } from "../../../doubles/escrow-steps.ts";
import { attests, CREATED_AT, session, vouches } from "../rules/session-world.ts";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** What a payment is signed with: a running total, for as many deliveries as it has hundreds of base units. */
const proofOf = (total: bigint, seconds: bigint, isLast = false) => {
  const deliveries = Number(total / 100n);
  const proofHash = hash32FromBytes(new Uint8Array(32).fill(deliveries));
  const timestamp = CREATED_AT + seconds;
  const claim = { proofHash, total, timestamp, deliveries };
  const attestation = attests(session, { ...claim, isFinal: isLast });
  const voucher = vouches(session, { total, count: deliveries, isClosing: isLast });
  return { attested: { ...claim, signature: attestation.signature }, attestation, voucher };
};

type Proof = ReturnType<typeof proofOf>;
type Signed = Proof["voucher"];

const told = ({ publicKey, signature, message }: Signed) => ({
  public_key: publicKey,
  message_hex: hex(message),
  signature_hex: hex(signature),
});

const step = (after: string, escrow: Escrow, proof: Proof | null = null) => ({
  after,
  account_base64: encodeBase64(encodeEscrowAccount(escrow)),
  terms: termsOf(escrow),
  proof: proof && {
    attestation: told(proof.attestation),
    voucher: told(proof.voucher),
    ed25519_hex: hex(ed25519Instruction(proof.attestation, proof.voucher).data),
  },
});

/** One session for each end: created, captured twice, closed, captured, then released, refunded or cancelled. */
export const sessionLives = () => {
  const [one, two, three, last] = [
    proofOf(100n, 10n),
    proofOf(300n, 20n),
    proofOf(400n, 40n),
    proofOf(500n, 50n, true),
  ];
  const first = captured(session, one.attested);
  const second = captured(first, two.attested);
  const closing = closed(second, CREATED_AT + 30n);
  const third = captured(closing, three.attested);
  const before = [
    step("create_escrow", session),
    step("capture", first, one),
    step("capture", second, two),
    step("close_session", closing),
    step("capture", third, three),
  ];
  const now = CREATED_AT + 60n;
  return {
    genesis_hash: NETWORK.genesisHash,
    custody_program: NETWORK.custodyProgram,
    domain: domainOf(NETWORK),
    lives: [
      [...before, step("release_escrow", settled(third, "release", now, last.attested), last)],
      [...before, step("claim_refund", settled(third, "refund", endOf(third)))],
      [...before, step("cancel_escrow", settled(third, "cancel", now))],
    ],
  };
};

/** Where they are kept. */
export const SESSION_LIVES = new URL("../../../vectors/session-lives.json", import.meta.url);

// Run by itself, it writes them. session-lives.test.ts compares the stored file with it.
if (import.meta.main)
  await Bun.write(SESSION_LIVES, `${JSON.stringify(sessionLives(), null, 2)}\n`);
