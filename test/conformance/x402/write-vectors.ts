import { X402_VECTORS, x402Vectors } from "./vectors.ts";

// Writes test/vectors/x402.json.
await Bun.write(X402_VECTORS, `${JSON.stringify(x402Vectors(), null, 2)}\n`);
