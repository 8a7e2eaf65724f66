import { expect, test } from "bun:test";
import { Effect, Exit } from "effect";
import { address } from "../../../../core/domain/address.ts";
import { registerMerchantInstruction } from "../../../../core/protocol/instructions/attestor-instructions.ts";
import { LOCAL_DEPLOYMENT } from "../../../../core/protocol/addresses/local-deployment.ts";
import { relayTransaction } from "../../../../core/use-cases/relay/relay-transaction.ts";
import { KnownBlockhashes } from "../../../../core/use-cases/service/transaction-terms.ts";
import { decodeWireTransaction } from "../../../../core/protocol/transaction/wire-transaction.ts";
import { OutcomeLog } from "../../../../ports/outcome-log.ts";
import { RateLimiter } from "../../../../ports/rate-limiter.ts";
import { wallet } from "../../../programs/fixture/wallet.ts";
import { relaying } from "./scripted-ledger.ts";
import { blockhashOf, signedBase64, signedBytes } from "./signed.ts";

const payer = wallet("payer");
const registration = registerMerchantInstruction(LOCAL_DEPLOYMENT, {
  payer: payer.address,
  merchant: payer.address,
  attestor: wallet("attestor").address,
  name: "Weather Data Ltd",
});
const client = "192.0.2.1";
const request = {
  signedTransaction: signedBase64([registration], [payer], blockhashOf(1)),
  confirm: false,
  skipPreflight: false,
  client,
};
const decoded = decodeWireTransaction(signedBytes([registration], [payer], blockhashOf(1)));
if ("malformed" in decoded) throw new Error(decoded.malformed);
const { signature } = decoded.value;

/** The relay of a transaction whose blockhash this process handed out at slot 1,900. */
const relayed = relayTransaction(request).pipe(
  Effect.provideService(KnownBlockhashes, (blockhash) =>
    Effect.succeed(
      blockhash === blockhashOf(1)
        ? { blockhash: address(blockhash), lastValidBlockHeight: 1_040n, slot: 1_900n }
        : null,
    ),
  ),
);
const charged = Effect.map(
  RateLimiter.use((limiter) => limiter.take("relay", client, 1)),
  ({ remaining }) => 99 - remaining,
);
const plain = (kind: string) => ({
  kind,
  instructionIndex: null,
  instructionError: null,
  customCode: null,
});

test("a known blockhash costs three calls, and tells the transaction's lifetime", () =>
  relaying(function* (script) {
    script.isBlockhashValid = () => {
      throw new Error("asked for a blockhash that is known");
    };
    const before = script.reads;
    yield* relayed;
    // Accounts, simulation and sending.
    expect(script.reads - before).toBe(3);
    expect(script.sent).toEqual([signature]);
    const entry = yield* OutcomeLog.use((log) => log.find(signature));
    expect(entry).toMatchObject({ lastValidBlockHeight: 1_040n, openedAtSlot: 1_900n });
  }));

test("what landed elsewhere under it gets its known outcome, is not sent, and costs no failed check", () =>
  relaying(
    function* (script) {
      script.landed.set(signature, { slot: 1_950n, commitment: "confirmed", error: null });
      script.simulationError = plain("AlreadyProcessed");
      expect(yield* relayed).toMatchObject({ status: "confirmed", slot: 1_950n });
      expect(script.sent).toEqual([]);
      // The same where a check fails because it has landed.
      script.simulationError = plain("AccountInUse");
      expect(yield* relayed).toMatchObject({ status: "confirmed", slot: 1_950n });
      expect(yield* charged).toBe(0);
    },
    { limit: 100 },
  ));

test("one that the ledger no longer takes is refused by the simulation, and not sent", () =>
  relaying(function* (script) {
    script.simulationError = plain("BlockhashNotFound");
    const exit = yield* Effect.exit(relayed);
    const failure = Exit.findErrorOption(exit);
    expect(failure).toMatchObject({ _tag: "Some", value: { _tag: "BlockhashExpired" } });
    expect(script.sent).toEqual([]);
  }));
