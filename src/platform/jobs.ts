// What crons leave to a queue, so that no invocation visits all accounts. A message names one account, a page
// of accounts of one database, or one database. Each is its own invocation, with queries of its own, so a
// database that fails or is slow holds up its own accounts alone. A message can arrive twice: every job finds
// what an earlier one has done. It may be read by the version of the Worker before or after: members are only
// added, and a job that a version does not know fails, so that it is delivered again.

import type { ExportJob } from './export-job.ts'

/** The accounts that a message names at most: so many fit into the queries of an invocation. */
export const PAGE_ACCOUNTS = 50

interface Due {
  /** When the cron was due, in milliseconds. */
  readonly at: number
}

/** Lists accounts after an id, and puts the jobs of each on the queue. */
export interface ListJob extends Due {
  readonly job: 'list'
  readonly after: string
}

/**
 * A job for some accounts of a database:
 * - `feeds`: reports late feeds.
 * - `postbacks`: reads what causes postbacks.
 */
export interface PageJob<Name extends 'feeds' | 'postbacks'> extends Due {
  readonly job: Name
  readonly binding: string
  readonly accounts: readonly string[]
}

/** Starts the statement runs of an account, and does what a day needs. */
export interface MorningJob extends Due {
  readonly job: 'morning'
  readonly binding: string
  readonly account: string
}

/** Goes on with the move of an account to another database. */
export interface MoveJob extends Due {
  readonly job: 'move'
  readonly account: string
}

/** Sends the settings of accounts to live tokens that have not received them. */
export interface PropagationJob extends Due {
  readonly job: 'propagate'
  readonly accounts: readonly string[]
}

/**
 * A job of a database that several messages do:
 * - `minute`: first queues the webhook events that are due, and always goes on with erasures and resets.
 * - `expire`: deletes expired rows.
 */
export interface RoundJob<Name extends 'minute' | 'expire'> extends Due {
  readonly job: Name
  readonly binding: string
  /** 1 for the first message of a cron. */
  readonly round: number
}

/** A job that a cron leaves to the queue. */
export type Job =
  | ListJob
  | PageJob<'feeds'>
  | PageJob<'postbacks'>
  | MorningJob
  | ExportJob
  | MoveJob
  | PropagationJob
  | RoundJob<'minute'>
  | RoundJob<'expire'>

/** The longest delay of a morning's message, in seconds. */
const SPREAD_SECONDS = 3600

/** Returns the delay of a morning's message in seconds, always the same for a text. */
export function spread(text: string): number {
  // FNV-1a.
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  }
  return hash % SPREAD_SECONDS
}

/** The messages that a queue accepts in one call. */
const PER_CALL = 100

/** Puts jobs on the queue, each after a delay. */
export async function sendJobs<One extends Job>(
  env: Env,
  jobs: readonly One[],
  delayOf: (job: One) => number = () => 0,
): Promise<void> {
  for (let i = 0; i < jobs.length; i += PER_CALL) {
    await env.ACCOUNT_JOBS.sendBatch(
      jobs.slice(i, i + PER_CALL).map((body) => ({ body, delaySeconds: delayOf(body) })),
    )
  }
}

/** Returns parts of a list, each with at most `size` elements. */
export const pagesOf = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) =>
    list.slice(i * size, (i + 1) * size),
  )
