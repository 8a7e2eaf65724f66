/** Why nothing is backed up or restored; names are stable. */
type BackupRefusal =
  | "target_not_empty"
  | "nothing_to_back_up"
  | "ledger_in_use"
  | "link_in_data"
  | "store_unusable"
  | "key_missing"
  | "no_backup"
  | "backup_unfinished"
  | "backup_changed"
  | "backup_of_another_version"
  | "backup_of_another_ledger"
  | "database_needed"
  | "postgres_tools_missing"
  | "database_refused";

/** Nothing was backed up or restored. The message has the name, what is wrong and the cure, in one line. */
export class BackupRefused extends Error {
  override readonly name: string = "BackupRefused";
  readonly refusal: BackupRefusal;

  constructor(refusal: BackupRefusal, detail: string, cure: string) {
    super(`${refusal}: ${detail}. ${cure}`);
    this.refusal = refusal;
  }
}
