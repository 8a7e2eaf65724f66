// Shows what a prepared transaction does, and signs it when the person types y: what a wallet does, for a terminal.
// sign.ts KEY_FILE PREPARED_FILE; TRUST_FILE: the trust document. Prints the body for /v1/relay, and the relay tool.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline/promises";
import * as kit from "@solana/kit";
import { readKeyFile, transactionWords } from "settlement-evidence/node";

const [keyFile = "", preparedFile = ""] = process.argv.slice(2);
const refuse = (message: string, cure = ""): never => {
  throw Object.assign(new Error(message), { cure: `Nothing was signed. ${cure}`.trim() });
};
const read = (file: string, cure: string) => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return refuse(`${file} holds no JSON.`, cure);
  }
};
const PREPARED = "Name the file of what a prepare tool or a link printed.";
try {
  const [signer, trust] = [
    await readKeyFile(keyFile),
    read(process.env.TRUST_FILE ?? "trust.json", "Name the trust document in TRUST_FILE."),
  ];
  const { transaction = "", message } = read(preparedFile || "PREPARED_FILE", PREPARED);
  // A link that was refused has a message with the cure.
  if (message && !transaction) refuse(message);
  if (!transaction) refuse(`${preparedFile} holds no transaction.`, PREPARED);
  const bytes = Buffer.from(transaction, "base64");
  const unsigned = kit.getTransactionDecoder().decode(bytes);
  const compiled = kit.getCompiledTransactionMessageDecoder().decode(unsigned.messageBytes);
  for (const call of kit.decompileTransactionMessage(compiled).instructions) {
    const program = call.programAddress;
    const fee = program.startsWith("ComputeBudget111") && !call.data?.slice(4).some(Boolean);
    if (program !== trust.custody_program && !fee)
      refuse(`${program} is no program to sign for.`, "Sign only what you asked to be prepared.");
  }
  console.error(`It will ${transactionWords(transaction, trust)}.`);
  const signers = Object.keys(unsigned.signatures).join(", ");
  if (!(signer.address in unsigned.signatures))
    refuse(`${signer.address} is no signer of this.`, `Name the key file of ${signers}.`);
  console.error(`${signers} must sign this. Sign? [y/N]`);
  let answer = "";
  for await (answer of createInterface({ input: process.stdin })) break;
  if (answer !== "y") refuse("Only y signs.", "Run it again, and type y to sign.");
  const [signatures] = await signer.signTransactions([unsigned]);
  const signed = { ...unsigned, signatures: { ...unsigned.signatures, ...signatures } };
  console.log(JSON.stringify({ signed_transaction: kit.getBase64EncodedWireTransaction(signed) }));
} catch ({ message, cure = "Nothing was signed. Prepare the transaction again." }) {
  console.error(message, cure);
  process.exitCode = 1;
}
