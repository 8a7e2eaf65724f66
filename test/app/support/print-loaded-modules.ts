import { ed25519 } from "@noble/curves/ed25519.js";
import { plugin } from "bun";

// Loads the module that the argument names, and prints what was loaded with it. Fails if the load makes a key or signs.
const [path = ""] = process.argv.slice(2);
const AT_WORK: ReadonlySet<string | symbol> = new Set(["getPublicKey", "keygen", "sign"]);
const idle = new Proxy(ed25519, {
  get: (target, name) => {
    if (AT_WORK.has(name)) throw new Error(`ed25519.${String(name)} runs while ${path} loads`);
    return Reflect.get(target, name);
  },
});
plugin({
  name: "idle keys",
  setup: (build) =>
    void build.module("@noble/curves/ed25519.js", () => ({
      loader: "object",
      exports: { ed25519: idle },
    })),
});
await import(path);
process.stdout.write(JSON.stringify(Object.keys(require.cache)));
process.exit(0);
