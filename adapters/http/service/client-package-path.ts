/** The path at which the service hands out its client. */
export const CLIENT_PACKAGE_PATH = "/client/settlement-evidence.tgz";
