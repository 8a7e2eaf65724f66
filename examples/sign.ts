// Shows what a prepared transaction does, and signs it when the person types y: what a wallet does, for a terminal.
// sign.ts KEY_FILE PREPARED_FILE; TRUST_FILE: the trust document. Prints the body for /v1/relay, and the relay tool.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import * as kit from "@solana/kit";
import { custody } from "settlement-evidence/generated";
import { readKeyFile } from "settlement-evidence/node";

const [keyFile = "", preparedFile = ""] = process.argv.slice(2);
const read = (file: string) => JSON.parse(readFileSync(file, "utf8"));
try {
  const [signer, trust] = [
    await readKeyFile(keyFile),
    read(process.env.TRUST_FILE ?? "trust.json"),
  ];
  const { transaction = "", message = `${preparedFile} holds no transaction.` } =
    read(preparedFile);
  if (transaction === "") throw new Error(message);
  const bytes = Buffer.from(transaction, "base64");
  const unsigned = kit.getTransactionDecoder().decode(bytes);
  const compiled = kit.getCompiledTransactionMessageDecoder().decode(unsigned.messageBytes);
  for (const call of kit.decompileTransactionMessage(compiled).instructions) {
    const program = call.programAddress;
    const fee = program.startsWith("ComputeBudget111") && !call.data?.slice(4).some(Boolean);
    if (program !== trust.custody_program && !fee)
      throw new Error(`${program} is no program to sign for.`);
    if (fee) continue;
    const { instructionType, accounts, data } = custody.parseCustodyInstruction(call as never);
    const parties = Object.entries(accounts).map(([role, account]) => [role, account?.address]);
    console.error(custody.CustodyInstruction[instructionType], Object.fromEntries(parties), data);
  }
  if (!(signer.address in unsigned.signatures))
    throw new Error(`${signer.address} is no signer of this.`);
  console.error(`${Object.keys(unsigned.signatures).join(", ")} must sign this. Sign? [y/N]`);
  let answer = "";
  for await (answer of createInterface({ input: process.stdin })) break;
  if (answer !== "y") throw new Error("Only y signs.");
  const [signatures] = await signer.signTransactions([unsigned]);
  const signed = { ...unsigned, signatures: { ...unsigned.signatures, ...signatures } };
  console.log(JSON.stringify({ signed_transaction: kit.getBase64EncodedWireTransaction(signed) }));
} catch ({ message, cure = "Nothing was signed." }) {
  console.error(message, cure);
  process.exitCode = 1;
}
