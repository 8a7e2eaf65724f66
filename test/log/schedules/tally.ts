/** What happened in schedules: a run in which one of these is missing proves less than it says. */
export type Tally = {
  readonly schedules: number;
  readonly events: number;
  readonly syncs: number;
  readonly failedSyncs: number;
  readonly kills: number;
  readonly restarts: number;
  readonly signed: number;
  readonly cosigned: number;
  /** Histories that a lying log had offered to a witness. */
  readonly lies: number;
  /** How often a witness went back to an older copy of its state. */
  readonly restored: number;
  /** How often a store in files and the key's file went back to an older copy. */
  readonly takenBack: number;
  /** Rotations of the log's keys that its operator began, and keys that it retired. */
  readonly rotated: number;
  readonly retired: number;
  /** Logs that their operator ended. */
  readonly ended: number;
  readonly onFork: number;
  readonly unseen: number;
};

/** The tally of no schedule. */
export const NOTHING: Tally = {
  schedules: 0,
  events: 0,
  syncs: 0,
  failedSyncs: 0,
  kills: 0,
  restarts: 0,
  signed: 0,
  cosigned: 0,
  lies: 0,
  restored: 0,
  takenBack: 0,
  rotated: 0,
  retired: 0,
  ended: 0,
  onFork: 0,
  unseen: 0,
};
