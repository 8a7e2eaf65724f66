import { fieldPointers } from "../request/request-fields.ts";

/** The pointers to the filters that can be wrong, in requests to the index's lists and its stream. */
export const filterPointers = fieldPointers({ merchant: "?merchant", agentOwner: "?agent_owner" });
