import { randomUUID } from "node:crypto";

// A client as many are: whenever it is started, it makes up what names its payment. It must be caught.
process.env["NONCE"] = randomUUID();
await import("./our-client.ts");
