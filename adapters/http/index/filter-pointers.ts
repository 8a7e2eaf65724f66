import { fieldPointers } from "../request/field-pointers.ts";

/** Where a request to the index's lists, or to its stream, holds the filters that can be wrong. */
export const filterPointers = fieldPointers({ merchant: "?merchant", agentOwner: "?agent_owner" });
