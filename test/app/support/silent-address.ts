/**
 * An address of this machine at which nothing listens. Port 1 is tcpmux (RFC 1078), which nobody runs and only root
 * could take; a port that was free a moment ago may be another test's.
 */
export const SILENT_ADDRESS = "http://127.0.0.1:1";
