import { MINUTE_MS } from '../platform/durations.ts'

/** The limits of approvals, manual entries and what is due. */
export const BOOK_LIMITS = {
  /** How often a request decides again because another one changed the books meanwhile. */
  attempts: 8,
  /** The statements that one batch approves. */
  batch: 500,
  /** The facts that an approval reads to compute drafts again whose records may have changed. */
  facts: 300_000,
  /** By how much the approval of a period divides a batch that depends on more facts. */
  divisor: 8,
  /**
   * How long before its commit a delivery may have got its id, in milliseconds: one that is older than a
   * run by less than this may be missing in it.
   */
  commitMs: 5 * MINUTE_MS,
  /** The refused statements that the approval of a period lists. */
  refused: 100,
  /** The time for which a request approves a period, in milliseconds. It is repeated to go on. */
  approvalMs: 20_000,
  /** The entries of an affiliate that no approved statement has. */
  openEntries: 500,
  /** The statements to be paid that one request reads. */
  due: 20_000,
}
