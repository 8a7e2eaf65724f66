/**
 * The environment of a process in which memory counts for more than time. Compiled code takes 5 MB of a witness and
 * saves it little: it judges one checkpoint a second at most, in some milliseconds.
 */
export const LITTLE_MEMORY = { BUN_JSC_useJIT: "0" } as const;
