import { base58 } from "@scure/base";
import { getBase58Codec } from "@solana/kit";
import { decodeBase58, encodeBase58 } from "../../core/domain/encoding/base58.ts";
import { labelled } from "../simulation/world-escrow.ts";
import { microseconds } from "./support/microseconds.ts";
import { report, sizeOf, times } from "./support/report.ts";

const COUNT = sizeOf({ quick: 5_000, long: 20_000 });
const kit = getBase58Codec();
const bytes = Array.from({ length: COUNT }, (_, i) => labelled(`address ${i}`));
const texts = bytes.map(encodeBase58);

const tell = (name: string, took: Readonly<Record<string, number>>): void => {
  const { ours = 0, scure = 0, kit = 0 } = took;
  report({
    name,
    goal: ">= 4x @scure/base",
    figure: ours,
    unit: "us",
    ratio: `${times(scure, ours)} @scure/base, ${times(kit, ours)} kit`,
    pass: scure / ours >= 4,
  });
};

tell(
  "base58 of 32 bytes, encode",
  await microseconds(bytes, {
    ours: encodeBase58,
    scure: base58.encode,
    kit: (b) => kit.decode(b),
  }),
);
tell(
  "base58 of 32 bytes, decode",
  await microseconds(texts, {
    ours: (text) => decodeBase58(text, 32),
    scure: base58.decode,
    kit: (text) => kit.encode(text),
  }),
);
