import { bundledScript } from "./bundle/service-bundle.ts";

// A bundle loads sooner than a thousand modules. Where none can be made, as on a read-only disk, these serve as well.
const bundle = await bundledScript("app/main.ts").catch(() => null);
await import(bundle ?? "./main.ts");
