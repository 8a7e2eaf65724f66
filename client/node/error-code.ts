/** The system's name of an error, such as ENOENT. It explains without quoting anything. */
export const errorCode = (cause: unknown): string =>
  cause instanceof Error && "code" in cause && typeof cause.code === "string"
    ? cause.code
    : "unknown error";
