/**
 * An RPC address as it may be shown: `scheme://host` and the port where one is given. Credentials, path
 * and query are left out, because providers put API keys there.
 */
export const redactedRpcAddress = (url: URL | string): string => {
  const parsed = URL.parse(url);
  return parsed === null || parsed.host === ""
    ? "unreadable address"
    : `${parsed.protocol}//${parsed.host}`;
};
