import { withoutNodeContract } from "../support/without-node.ts";

withoutNodeContract({ settings: () => ({}), isInFolder: true });
