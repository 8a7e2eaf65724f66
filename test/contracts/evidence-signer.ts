import { describe, expect, test } from "bun:test";
import { Effect, type Layer } from "effect";
import fc from "fast-check";
import { jwkThumbprint } from "../../core/domain/evidence/evidence-signature.ts";
import { verifyEd25519 } from "../../core/protocol/crypto/strict-ed25519.ts";
import { EvidenceSigner } from "../../ports/evidence-signer.ts";
import { runs } from "../arbitraries/runs.ts";

const message = fc.uint8Array({ maxLength: 2000 });

/** What every signer with a key must do. The layers that `open` returns share one key. */
export const evidenceSignerContract = <E>(
  name: string,
  open: () => Layer.Layer<EvidenceSigner, E>,
) => {
  const use = <A, F>(program: (signer: EvidenceSigner["Service"]) => Effect.Effect<A, F>) =>
    Effect.runPromise(Effect.provide(EvidenceSigner.use(program), open()));

  describe(`${name} is an evidence signer`, () => {
    test("names its key by the RFC 7638 thumbprint", () =>
      use((signer) =>
        Effect.sync(() => {
          const { current } = signer;
          expect(current).toMatchObject({ status: "current", endedAtMs: null });
          expect(current?.keyId).toBe(jwkThumbprint(current?.publicKey ?? new Uint8Array(32)));
        }),
      ));

    test("its signatures verify strictly under its published key, and under no other", () =>
      use((signer) =>
        Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(message, fc.nat(), async (message, at) => {
              const publicKey = signer.current?.publicKey ?? new Uint8Array(32);
              const signature = await Effect.runPromise(signer.sign(message));
              expect(verifyEd25519(signature, message, publicKey)).toBe(true);
              const index = at % (message.length + 1);
              const other = Uint8Array.from([...message, 0]);
              other[index] = (other[index] ?? 0) ^ 1;
              expect(verifyEd25519(signature, other, publicKey)).toBe(false);
            }),
            runs(20),
          ),
        ),
      ));

    test("signs the same message in the same way, also when opened again", async () => {
      const message = Uint8Array.of(1, 2, 3);
      const twice = await use((signer) => Effect.all([signer.sign(message), signer.sign(message)]));
      const anew = await use((signer) => signer.sign(message));
      expect(twice).toEqual([anew, anew]);
    });
  });
};
