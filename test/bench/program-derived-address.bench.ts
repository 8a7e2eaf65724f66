import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { getProgramDerivedAddress, isOffCurveAddress } from "@solana/kit";
import { sha256Bun } from "../../adapters/bun/sha256.ts";
import { addressFromBytes, addressToBytes, ZERO_ADDRESS } from "../../core/domain/address.ts";
import { FAST_PARTS, IMPLEMENTATIONS } from "../../core/domain/encoding/fast/fast-parts.ts";
import { provideSha256 } from "../../core/domain/sha256.ts";
import { LOCAL_DEPLOYMENT } from "../../core/protocol/addresses/local-deployment.ts";
import { findProgramDerivedAddress } from "../../core/protocol/addresses/program-derived-address.ts";
import { labelled } from "../simulation/world-escrow.ts";
import { microseconds } from "./support/microseconds.ts";
import { report, sizeOf, times } from "./support/report.ts";

// The service sets the same function when it starts.
provideSha256(sha256Bun);

const COUNT = sizeOf({ quick: 300, long: 1000 });
const program = LOCAL_DEPLOYMENT.custodyProgram;
const programBytes = addressToBytes(program);
const escrow = new TextEncoder().encode("escrow");
const marker = new TextEncoder().encode("ProgramDerivedAddress");

const { isEdwardsPoint: isPoint } = IMPLEMENTATIONS.library;

const withNoble = (seeds: ReadonlyArray<Uint8Array>): string => {
  for (let bump = 255; bump >= 0; bump--) {
    const digest = sha256(concatBytes(...seeds, Uint8Array.of(bump), programBytes, marker));
    if (!isPoint(digest)) return addressFromBytes(digest);
  }
  throw new Error("no bump");
};

const seeds = Array.from({ length: COUNT }, (_, i) => [
  escrow,
  labelled(`agent ${i}`),
  labelled(`task ${i}`),
]);
const derive = await microseconds(seeds, {
  ours: (one) => findProgramDerivedAddress(program, one),
  noble: withNoble,
  kit: (one) => getProgramDerivedAddress({ programAddress: program, seeds: one }),
});
const { ours = 0, noble = 0, kit = 0 } = derive;
report({
  name: "one program derived address",
  goal: ">= 15x kit",
  figure: ours,
  unit: "us",
  ratio: `${times(kit, ours)} kit, ${times(noble, ours)} noble`,
  pass: kit / ours >= 15,
});

const points = Array.from({ length: COUNT }, (_, i) => labelled(`point ${i}`));
const addresses = new Map(points.map((bytes) => [bytes, addressFromBytes(bytes)]));
const check = await microseconds(points, {
  ours: FAST_PARTS.isEdwardsPoint,
  noble: isPoint,
  kit: (bytes) => isOffCurveAddress(addresses.get(bytes) ?? ZERO_ADDRESS),
});
const onCurve = check["ours"] ?? 0;
report({
  name: "is it a point of the curve",
  goal: ">= 5x kit and noble",
  figure: onCurve,
  unit: "us",
  ratio: `${times(check["kit"] ?? 0, onCurve)} kit, ${times(check["noble"] ?? 0, onCurve)} noble`,
  pass: (check["kit"] ?? 0) / onCurve >= 5 && (check["noble"] ?? 0) / onCurve >= 5,
});
