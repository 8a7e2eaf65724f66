/** The most rows of a list that a tool gives at once: a model reads all of them. */
export const PAGE_ROWS = 10;
