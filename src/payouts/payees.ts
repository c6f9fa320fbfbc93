import { findInviter } from '../affiliates/db/affiliate-members.ts'
import { parseAffiliateActor } from '../platform/auth/grant.ts'
import { isAssertionFailure, isUniqueViolation } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { newAuditId, withAudit } from '../platform/directory/audit.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import type { TeamCall } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { sendCaused } from '../webhooks/operations/send-caused.ts'
import * as rows from './db/payees.ts'
import { currentKeyId, decryptDetails, encryptDetails, maskDetails } from './details.ts'
import { changedNames, readDetails, type SentDetails } from './fields.ts'
import type { DETAILS_STATES, Details, Party, StoredDetails } from './model.ts'

// Whom money is paid to, and from where. One person enters details, another approves them, and nothing is paid to them
// before the hold of the account is over.

/** Who reads or changes details: a member of the team, or a member of an affiliate in the portal. */
export interface Caller extends Pick<TeamCall, 'env' | 'waitUntil' | 'actor'> {
  readonly db: D1Database
  readonly account: Account
}

/**
 * Returns the current versions of some details by id. Those that are missing or were erased are absent.
 *
 * @param ids Affiliates, or payers.
 */
export async function currentDetails(
  db: Parameters<typeof rows.readCurrent>[0],
  account: string,
  party: Party,
  ids: readonly string[],
): Promise<Map<string, rows.CurrentDetails>> {
  const found = await rows.readCurrent(db, { account, party }, ids)
  return new Map([...found].filter(([, { details }]) => details !== null))
}

const instant = (time: number | null) => (time === null ? null : new Date(time).toISOString())

/** Returns details as they are shown: masked, with those that were approved before. */
export async function presentDetails(
  { env, account }: Pick<Caller, 'env' | 'account'>,
  { party }: Pick<StoredDetails, 'party'>,
  id: string,
  stored: rows.CurrentDetails | undefined,
) {
  const isMissing = stored === undefined || stored.details === null
  const [version, text] = JSON.parse(stored?.previous ?? '[0, null]')
  const read = (version: number, details: string | null) =>
    decryptDetails(env, account.id, { party, id, version, details })
  const [now, before] = await Promise.all([
    read(stored?.version ?? 0, stored?.details ?? null),
    read(version, text),
  ])
  return {
    state: (isMissing ? 'missing' : stored.state) as 'missing' | (typeof DETAILS_STATES)[number],
    version: stored?.version ?? 0,
    details: now && maskDetails(now),
    previous: before && maskDetails(before),
    changed: now && before ? changedNames(before, now) : [],
    entered_by: isMissing ? null : stored.entered_by,
    entered_at: isMissing ? null : instant(stored.entered_at),
    approvals: isMissing ? [] : (JSON.parse(stored.approvals) as string[]),
    approvals_required: account.approvals,
    payable_from: isMissing ? null : instant(stored.payable_from),
    reason: isMissing ? null : stored.reason,
    shared_with: isMissing ? [] : (JSON.parse(stored.shared_with) as string[]),
  }
}

/** Returns the current details of one affiliate or payer as they are shown. */
export async function showDetails(call: Caller, party: Party, id: string) {
  const found = await rows.readCurrent(call.db, { account: call.account.id, party }, [id])
  return presentDetails(call, { party }, id, found.get(id))
}

const changedMeanwhile = (cause?: unknown) =>
  new ApiError('conflict', {
    detail: 'Another change was made at the same time. Look at the details as they are now.',
    cause,
  })

/** Makes a change, with its entry in the audit log, and sends the event that it causes. Throws `conflict`. */
async function store(
  call: Caller,
  party: Party,
  { verb, details }: { readonly verb: string; readonly details: object },
  statementsOf: (author: rows.Author) => readonly D1PreparedStatement[],
): Promise<void> {
  const { db, account, actor } = call
  const audit = newAuditId()
  const author = { account: account.id, party, actor, now: Date.now(), audit }
  const entry = { actor, action: `${party}.${verb}`, account: account.id, details: { ...details } }
  await withAudit(db, entry, [...statementsOf(author)], audit).catch((error) => {
    throw isUniqueViolation(error) || isAssertionFailure(error) ? changedMeanwhile(error) : error
  })
  sendCaused(call, account)
}

const named = (party: Party, id: string) =>
  party === 'payee' ? { affiliate_id: id } : { payer: id }

/** The ids that the audit log names of one request. */
const AUDITED_IDS = 20

/** Details that somebody enters. `pointer` leads to them in the body. */
export interface EnteredDetails {
  readonly id: string
  readonly sent: SentDetails
  readonly pointer?: string
}

/**
 * Stores details that somebody enters, all or none: a new version of each that differs from what is entered or
 * approved. Returns how many are new.
 *
 * @throws ApiError `validation_failed`; `conflict` if another change was made at the same time.
 */
export async function enterDetails(
  call: Caller,
  party: Party,
  entered: readonly EnteredDetails[],
  others: readonly Issue[] = [],
): Promise<number> {
  const { env, db, account } = call
  const read = entered.map(({ id, sent, pointer }) => ({ id, ...readDetails(sent, pointer) }))
  const issues = [...others, ...read.flatMap((one) => one.issues)]
  if (issues.length > 0) throw validationFailed(issues)
  const ids = read.map(({ id }) => id)
  const found = await rows.readCurrent(db, { account: account.id, party }, ids)
  const versions: rows.NewVersion[] = []
  for (const { id, details } of read) {
    const current = found.get(id)
    if (current && (await isUnchanged(call, current, details))) continue
    const version = (current?.version ?? 0) + 1
    const of = { account: account.id, party, id, version }
    const encrypted = await encryptDetails(env, of, details)
    const state = 'entered' as const
    versions.push({ id, version, state, method: details.method, reason: null, ...encrypted })
  }
  if (versions.length === 0) return 0
  const [only] = versions
  const audited =
    entered.length === 1 && only
      ? { ...named(party, only.id), version: only.version }
      : { payees: versions.length, ids: versions.slice(0, AUDITED_IDS).map(({ id }) => id) }
  await store(call, party, { verb: 'enter', details: audited }, (author) =>
    rows.insertVersions(db, author, versions),
  )
  return versions.length
}

/** Returns whether details are those that are current. What was blocked or came back is entered anew. */
async function isUnchanged(
  { env, account }: Caller,
  current: StoredDetails,
  details: Details,
): Promise<boolean> {
  if (current.state === 'blocked' || current.state === 'returned') return false
  const stored = await decryptDetails(env, account.id, current)
  return JSON.stringify(stored) === JSON.stringify(details)
}

/** Returns the current version that is changed. Throws `not_found` if there are no details. */
async function findCurrent({ db, account }: Caller, party: Party, id: string) {
  const found = await currentDetails(db, account.id, party, [id])
  const current = found.get(id)
  if (!current) throw notFound(party === 'payee' ? 'payee of affiliate' : 'payer', id)
  return current
}

const refused = (detail: string) => new ApiError('conflict', { detail })

/**
 * Approves a version, or says that what came back may be paid again. Nobody approves what they, or whom they have
 * invited, entered. With as many
 * persons as the account requires, it can be paid once its hold is over.
 *
 * @throws ApiError `not_found`, `conflict`
 */
export async function approveDetails(
  call: Caller,
  party: Party,
  id: string,
  version: number,
): Promise<void> {
  const { account, actor, db } = call
  const current = await findCurrent(call, party, id)
  if (current.version !== version)
    throw refused(`The details have changed: version ${current.version} is current.`)
  if (current.state === 'blocked') throw refused('The details are blocked. Enter them anew.')
  if (current.state === 'approved') return
  if (current.entered_by === actor)
    throw refused(
      'You entered these details: another person must approve them. Everybody who uses the same admin key counts as one person.',
    )
  const author = parseAffiliateActor(current.entered_by)
  // Otherwise an approver could invite themselves to the portal, and approve what they enter there.
  if (author && [actor, null].includes(await findInviter(db, account.id, author)))
    throw refused(
      'A person whom you have invited, or who was removed, entered these details: another person must approve them, or enter them anew.',
    )
  const approvals = [...new Set([...JSON.parse(current.approvals), actor])]
  const isEnough = current.state === 'returned' || approvals.length >= account.approvals
  const payableFrom = current.entered_at + account.payee_hold_hours * HOUR_MS
  const next = {
    approvals: JSON.stringify(approvals),
    ...(isEnough && {
      ...{ state: 'approved' as const, reason: null },
      payable_from: current.payable_from ?? payableFrom,
    }),
  }
  await store(
    call,
    party,
    { verb: 'approve', details: { ...named(party, id), version } },
    (author) => rows.setState(db, author, current, next),
  )
}

/** Blocks the current version with a reason: nothing is paid until details are entered anew. Throws `not_found`, `conflict`. */
export async function blockDetails(
  call: Caller,
  party: Party,
  id: string,
  reason: string,
): Promise<void> {
  const current = await findCurrent(call, party, id)
  if (current.state === 'blocked') return
  const details = { ...named(party, id), version: current.version, reason }
  await store(call, party, { verb: 'block', details }, (author) =>
    rows.setState(call.db, author, current, { state: 'blocked', reason }),
  )
}

/** Returns the current details in full, and notes who read them, and why. Throws `not_found`. */
export async function revealDetails(call: Caller, party: Party, id: string, reason: string) {
  const current = await findCurrent(call, party, id)
  const details = await decryptDetails(call.env, call.account.id, current)
  const audited = { ...named(party, id), version: current.version, reason }
  await store(call, party, { verb: 'reveal', details: audited }, () => [])
  return { version: current.version, details }
}

/** Returns the time that is some years before or after another, in milliseconds. */
const addYears = (time: number, years: number) =>
  new Date(time).setUTCFullYear(new Date(time).getUTCFullYear() + years)

/**
 * Erases details: versions that nothing used at once. The others stay, unread, until the years of the account are over.
 * Returns these with the day until which they stay.
 */
export async function eraseDetails(call: Caller, party: Party, id: string) {
  const { env, db, account } = call
  const owner = { account: account.id, party }
  const current = (await rows.readCurrent(db, owner, [id])).get(id)
  if (current && current.details !== null) {
    const key_id = await currentKeyId(env)
    const version = current.version + 1
    const { method } = current
    const erased = { id, version, method, key_id, state: 'blocked' as const }
    await store(call, party, { verb: 'erase', details: named(party, id) }, (author) => [
      rows.eraseUnused(db, owner, id),
      ...rows.insertVersions(db, author, [
        { ...erased, details: null, digest: null, reason: null },
      ]),
    ])
  }
  const kept = await rows.readKept(db, owner, id)
  return kept.map(({ version, used_at }) => ({
    version,
    until: new Date(addYears(used_at ?? Date.now(), account.retain_years))
      .toISOString()
      .slice(0, 10),
  }))
}

/** The versions that are encrypted anew at once, and how often in one job. */
const REENCRYPTED = { versions: 100, rounds: 20 }

/**
 * Encrypts the details of an account anew that another than the first key of TRACKING_KEYS has encrypted, and erases
 * former versions whose years are over. `now` is in milliseconds.
 */
export async function tendDetails(
  env: Env,
  db: D1Database,
  { id: account, retain_years: years }: Account,
  now: number,
): Promise<void> {
  await rows.erasePast(db, account, addYears(now, -years)).run()
  const key = await currentKeyId(env)
  for (let round = 0; round < REENCRYPTED.rounds; round++) {
    const stale = await rows.readStale(db, account, key, REENCRYPTED.versions)
    const replaced = await Promise.all(
      stale.map(async (one) => {
        const details = (await decryptDetails(env, account, one)) as Details
        const of = { ...one, account }
        return rows.replaceEncrypted(db, { ...of, ...(await encryptDetails(env, of, details)) })
      }),
    )
    if (replaced.length > 0) await db.batch(replaced)
    if (stale.length < REENCRYPTED.versions) return
  }
}
