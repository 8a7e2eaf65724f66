import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";
import { address } from "../../core/domain/address.ts";
import { proofHash as hashOfProof } from "../../core/domain/evidence/proof-template.ts";
import { formatUnixTime, type UnixSeconds } from "../../core/domain/unix-time.ts";
import { attestationMessage } from "../../core/protocol/instructions/attestation.ts";
import { releaseEscrowInstruction } from "../../core/protocol/instructions/custody-instructions.ts";
import { ed25519Instruction } from "../../core/protocol/instructions/ed25519-instruction.ts";
import { createAssociatedTokenInstruction } from "../../core/protocol/accounts/token.ts";
import type { EscrowRecord } from "../../adapters/http/escrow/escrow-contract.ts";
import { amountText } from "./amount-text.ts";
import { expectSame } from "./demo-failed.ts";
import { relayAs, type Stage } from "./stage.ts";

const TEMPLATE = "api-delivered-v1";
const ANSWER = '{"symbol":"SOL","price":"187.42"}';

const seconds = (time: string): UnixSeconds => BigInt(Date.parse(time) / 1000);

/**
 * The earliest timestamp that the ledger accepts for this escrow. The ledger's clock may differ from this machine's.
 */
const notBefore = (escrow: EscrowRecord): UnixSeconds => {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const created = seconds(escrow.created_at);
  return now < created ? created : now;
};

/** The merchant delivers, its attestor signs the proof, and the escrow is released. @throws DemoFailed */
export const deliver = async (stage: Stage, escrow: EscrowRecord): Promise<void> => {
  const { narrator, service, deployment, merchant, attestor } = stage;
  const timestamp = notBefore(escrow);
  narrator.step(
    "The merchant delivers and says so",
    `The proof is a JSON object of the template ${TEMPLATE}; its hash, SHA-256 over RFC 8785, is what counts.`,
  );
  await service.get(`/v1/proof-templates/${TEMPLATE}`);
  const proof = {
    proof_template_id: TEMPLATE,
    task_hash: escrow.task_hash,
    request_url: "https://api.example.com/v1/quotes?symbol=SOL",
    status_code: 200,
    content_sha256: bytesToHex(sha256(utf8ToBytes(ANSWER))),
    delivered_at: formatUnixTime(timestamp),
  };
  const proofHash = hashOfProof(proof);
  const message = attestationMessage({
    escrow: address(escrow.escrow_pda),
    proofHash,
    timestamp,
  });
  const signature = await attestor.sign(message);
  narrator.signs("attestor", `escrow, proof hash and time, ${message.length} bytes`);
  narrator.result(`proof_hash ${proofHash}`);

  narrator.step(
    "The merchant is paid",
    "One transaction: the attestation, checked by the ledger's own Ed25519 program, then the release.\nAnyone who holds the attestation could send it.",
  );
  const mint = address(escrow.mint);
  await relayAs(stage, "merchant", merchant, "ed25519 + create_token_account + release_escrow", [
    ed25519Instruction({ publicKey: attestor.address, signature, message }),
    createAssociatedTokenInstruction({
      payer: merchant.address,
      owner: merchant.address,
      mint,
    }),
    releaseEscrowInstruction(deployment, {
      escrow: address(escrow.escrow_pda),
      mint,
      rentPayer: address(escrow.rent_payer),
      merchant: merchant.address,
      proofHash,
      timestamp,
    }),
  ]);
  const { data: settled } = await service.get<{ data: EscrowRecord }>(
    `/v1/escrows/${escrow.escrow_pda}`,
  );
  expectSame("the escrow's state", settled.state, "Fulfilled");
  expectSame("the released amount", settled.released_stroops, escrow.amount_stroops);
  expectSame("the recorded proof hash", settled.proof_hash, proofHash as string);
  narrator.result(`${settled.state}: ${amountText(settled)} are the merchant's`);
};
