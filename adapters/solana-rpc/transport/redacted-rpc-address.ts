/**
 * An RPC address without secrets: `scheme://host`, and the port if there is one. Credentials, path and query are left
 * out, because providers put API keys there.
 */
export const redactedRpcAddress = (url: URL | string): string => {
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === ""
    ? "unreadable address"
    : `${parsed.protocol}//${parsed.host}`;
};
