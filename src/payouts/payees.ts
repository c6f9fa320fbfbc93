import { endAgreements, writeInvoices } from '../books/db/invoices.ts'
import { parseAffiliateActor } from '../platform/auth/grant.ts'
import { isAtLeast, type Role } from '../platform/auth/roles.ts'
import type { Connection } from '../platform/db/database.ts'
import { isAssertionFailure, isUniqueViolation } from '../platform/db/retry.ts'
import type { Account } from '../platform/db/schema.ts'
import { type Changes, newAuditId, withAudit } from '../platform/directory/audit.ts'
import { ROOT_ACTOR } from '../platform/directory/members.ts'
import { HOUR_MS } from '../platform/durations.ts'
import { ApiError } from '../platform/errors.ts'
import type { Call } from '../platform/http/operation.ts'
import { notFound, validationFailed } from '../platform/http/read-fields.ts'
import { requirePerson, withInviters } from '../platform/http/two-persons.ts'
import type { Issue } from '../platform/validation/issue.ts'
import { sendCaused } from '../webhooks/operations/send-caused.ts'
import * as rows from './db/payees.ts'
import { currentKeyId, decryptDetails, encryptDetails, isHidden, maskDetails } from './details.ts'
import {
  changedNames,
  DETAIL_CHOICES,
  DETAIL_NAMES,
  flatDetails,
  missingForInvoice,
  readDetails,
} from './fields.ts'
import type { Details, Party, StoredDetails } from './model.ts'

// Whom money is paid to, and from where. One person enters details, another approves them, and nothing is paid to them
// before the hold of the account is over.

/** Who reads or changes details: a member of the team, or a member of an affiliate in the portal. */
export interface Caller extends Pick<Call, 'env' | 'waitUntil' | 'actor'> {
  readonly db: D1Database
  readonly account: Account
  /** The role of a member of the team. */
  readonly role?: Role
}

/** The members by which parties are named: affiliates, and payers. */
export const PARTY_KEYS = { payee: 'affiliate_id', payer: 'payer' } as const

/**
 * Returns the current version of details.
 *
 * @throws ApiError `not_found` if they are missing.
 */
export async function requireCurrent(
  db: Connection,
  owner: rows.Owner,
  id: string,
): Promise<rows.CurrentDetails> {
  const current = (await rows.readCurrent(db, owner, [id])).get(id)
  if (!current || current.state === 'missing') throw notFound(owner.party, id)
  return current
}

const instant = (time: number | null = null) =>
  time === null ? null : new Date(time).toISOString()

/** Returns whether a caller is told how details compare: a manager could else enter numbers until one is that of others. */
const isToldOfOthers = ({ role = 'approver' }: Pick<Caller, 'role'>) => isAtLeast(role, 'approver')

/** Returns details as they are shown: masked, with those that were approved before. */
export async function presentDetails(
  call: Pick<Caller, 'env' | 'account' | 'role'>,
  stored: rows.CurrentDetails | undefined,
) {
  const { env, account } = call
  const mayCompare = isToldOfOthers(call)
  const shown = stored?.state === 'missing' ? undefined : stored
  const before: Pick<StoredDetails, 'reason'> | null = JSON.parse(shown?.previous ?? 'null')
  const [details, previous] = await Promise.all(
    [shown, before && shown && { ...shown, ...before }].map(async (one) =>
      one ? decryptDetails(env, account.id, one) : null,
    ),
  )
  return {
    state: shown?.state ?? ('missing' as const),
    version: stored?.version ?? 0,
    details: details ? maskDetails(details) : null,
    previous: previous ? maskDetails(previous) : null,
    changed: mayCompare && details && previous ? changedNames(previous, details) : [],
    entered_by: shown?.entered_by ?? null,
    invited_by: shown?.invited_by ?? null,
    entered_at: instant(shown?.entered_at),
    // Whoever entered it stands behind it, too.
    approvals: (JSON.parse(shown?.approvals ?? '[]') as string[]).filter(
      (one) => one !== shown?.entered_by,
    ),
    payable_from: instant(shown?.payable_from),
    // What a bank said stands until other details are approved.
    reason: shown?.reason ?? (shown?.state === 'entered' ? (before?.reason ?? null) : null),
    same_account: JSON.parse((mayCompare && shown?.same_account_as) || '[]') as string[],
  }
}

/** Returns a version as it is shown in the list of all: who entered and approved it, and what was changed, masked. */
export async function presentVersion(call: Caller, stored: rows.ListedVersion) {
  const shown = await presentDetails(call, stored)
  const { same_account: _, details, previous, changed, ...version } = shown
  const [before, now] = [previous, details].map((of) => new Map(flatDetails(of ?? {})))
  const isChanged = (name: string) => changed.includes(name) || before?.get(name) !== now?.get(name)
  return {
    ...version,
    author: stored.author,
    approved_at: instant(stored.approved_at),
    reason: stored.reason,
    changes: DETAIL_NAMES.filter((name) => details && isChanged(name)).map((field) => ({
      field,
      before: before?.get(field) ?? null,
      now: now?.get(field) ?? null,
    })),
    transfers: JSON.parse(stored.transfers) as { id: string; batch: string }[],
  }
}

/** Returns the current details of one affiliate or payer as they are shown. */
export async function showDetails(call: Caller, party: Party, id: string) {
  const found = await rows.readCurrent(call.db, { account: call.account.id, party }, [id])
  return presentDetails(call, found.get(id))
}

/** Makes a change, with its entry in the audit log, and sends the event that it causes. Throws `conflict`. */
async function store(
  call: Caller,
  party: Party,
  verb: string,
  details: Readonly<Record<string, unknown>>,
  statementsOf: (author: rows.Author) => D1PreparedStatement[],
): Promise<void> {
  const { db, account, actor } = call
  const audit = newAuditId()
  const author = { account: account.id, party, actor, now: Date.now(), audit }
  const entry = { actor, action: `${party}.${verb}`, account: account.id, details }
  await withAudit(db, entry, statementsOf(author), audit).catch((cause) => {
    if (!isUniqueViolation(cause) && !isAssertionFailure(cause)) throw cause
    const detail = 'Another change was made at the same time. Look at the details as they are now.'
    throw new ApiError('conflict', { detail, cause })
  })
  sendCaused(call, account)
}

/** The ids that the audit log names of one request. */
const AUDITED_IDS = 20

/** The states of details of which a change keeps what is hidden from its author, and left empty. */
const KEPT: readonly StoredDetails['state'][] = ['entered', 'approved', 'returned']

/**
 * Stores details that somebody enters, all or none: a new version of each that differs from what is entered or
 * approved, and of each that a manager enters. Returns how many are new.
 *
 * @param entered The details as they are sent. `pointer` leads to them in the body.
 * @param others What else is wrong with the request.
 * @throws ApiError `validation_failed`; `same_person`; `conflict` if another change was made at the same time.
 */
export async function enterDetails(
  call: Caller,
  party: Party,
  entered: readonly { readonly id: string; readonly sent: unknown; readonly pointer?: string }[],
  others: readonly Issue[] = [],
): Promise<number> {
  const { env, db, account, actor } = call
  await requirePerson(call)
  const owner = { account: account.id, party }
  const all = entered.map(({ id }) => id)
  const found = await rows.readCurrent(db, owner, all)
  const read = await Promise.all(
    entered.map(async ({ id, sent, pointer }) => {
      const current = found.get(id)
      // Of what is blocked, nothing is kept.
      const isKept = current && KEPT.includes(current.state)
      const stored = isKept ? await decryptDetails(env, account.id, current) : null
      const isUnapproved = current?.state === 'entered' && current.entered_by !== actor
      const kept = stored && { details: stored, isUnapproved }
      return { id, stored, ...readDetails(party, sent, pointer, kept) }
    }),
  )
  const issues = [...others, ...read.flatMap((one) => one.issues)]
  if (issues.length > 0) throw validationFailed(issues)
  // A member of the team stands behind what they enter.
  const isPerson = !parseAffiliateActor(actor) && actor !== ROOT_ACTOR
  const approvals = JSON.stringify(isPerson ? [actor] : [])
  const versions: rows.NewVersion[] = []
  const changes: Changes[] = []
  const otherTaxpayers: string[] = []
  for (const { id, stored, details } of read) {
    const current = found.get(id)
    // What came back is entered anew.
    const mayStay = current?.state !== 'returned' && isToldOfOthers(call)
    if (mayStay && stored && changedNames(stored, details).length === 0) continue
    const isKept = !current || current.state === 'missing' || stored
    if (!isKept || (stored && stored.tax?.vat_id !== details.tax?.vat_id)) otherTaxpayers.push(id)
    const of = { id, version: (current?.version ?? 0) + 1 }
    const encrypted = await encryptDetails(env, { ...owner, ...of }, details)
    versions.push({ ...of, method: details.method, approvals, ...encrypted })
    changes.push(changedDetails(stored, details, isToldOfOthers(call)))
  }
  if (versions.length === 0) return 0
  const ids = versions.slice(0, AUDITED_IDS).map(({ id }) => id)
  const [{ version } = { version: 0 }] = versions
  const one = ids.length === 1 && { [PARTY_KEYS[party]]: ids[0], version, changes: changes[0] }
  const entry = one || { [`${party}s`]: ids, count: versions.length }
  await store(call, party, 'enter', entry, (author) => [
    ...rows.insertVersions(db, author, versions),
    ...(party === 'payee' ? [endAgreements(db, account.id, otherTaxpayers, author.now)] : []),
  ])
  return versions.length
}

/** Returns details as the audit log, of which nothing is erased, has them: masked, and who and where it is hidden. */
function loggedDetails(details: Details | null): Readonly<Record<string, string>> {
  const flat = flatDetails(details ? maskDetails(details) : {})
  const isClear = (name: string) => isHidden(name) || DETAIL_CHOICES.has(name) || CLEAR.has(name)
  return Object.fromEntries(flat.map(([name, text]) => [name, isClear(name) ? text : '…']))
}

const CLEAR: ReadonlySet<string> = new Set(['country', 'currency', 'bic'])

/** Returns what of details changes. Whoever is not told how hidden members compare sees those that look different. */
function changedDetails(before: Details | null, now: Details, isTold: boolean): Changes {
  const [old, latter] = [loggedDetails(before), loggedDetails(now)]
  const differ = changedNames(before ?? {}, now).filter(
    (name) => isTold || !isHidden(name) || old[name] !== latter[name],
  )
  return Object.fromEntries(differ.map((name) => [name, [old[name] ?? null, latter[name] ?? null]]))
}

/** Makes a change of the current version, if it still is as it was read. */
const change = (
  call: Caller,
  current: rows.CurrentDetails,
  verb: string,
  next: Parameters<typeof rows.setState>[3],
  also: (author: rows.Author) => D1PreparedStatement[] = () => [],
) => {
  const { party, id, version } = current
  const reason = next.reason ?? next.same_account
  const tax = next.tax && JSON.parse(next.tax)
  const details = { [PARTY_KEYS[party]]: id, version, ...(reason && { reason }), ...tax }
  return store(call, party, verb, details, (author) => [
    ...rows.setState(call.db, author, current, next),
    ...also(author),
  ])
}

const refused = (detail: string) => new ApiError('conflict', { detail })

/** How a person decides that VAT applies. */
export interface Decided {
  readonly treatment?: string
  readonly exempt_reason?: string
}

/** What a treatment needs. */
const NEEDED = {
  street: 'An invoice needs the whole address. Enter the details again with street or post box.',
  vat_id: 'This VAT treatment needs the VAT number of the payee. Enter the details again with it.',
  exempt_reason: 'Say why the payee is exempt from VAT.',
}

/**
 * Approves a version, or says that what came back may be paid again, and decides how VAT applies. Nobody approves what
 * they, or whom they have invited, entered. With as many persons as the account requires, of whom a member of the team who
 * entered it is one, it can be paid once its hold is over. Where a person decides otherwise than those before, who entered
 * it included, approvals begin anew.
 *
 * @param decided The treatment; what is proposed or decided stays if it has none.
 * @throws ApiError `not_found`, `conflict`, `same_person`
 */
export async function approveDetails(
  call: Caller,
  party: Party,
  id: string,
  version: number,
  decided: Decided = {},
) {
  const { env, account, actor, db } = call
  await requirePerson(call)
  const current = await requireCurrent(db, { account: account.id, party }, id)
  if (current.version !== version)
    throw refused(`The details have changed: version ${current.version} is current.`)
  if (current.state === 'blocked') throw refused('The details are blocked. Enter them anew.')
  const tax = decided.treatment
    ? JSON.stringify({ ...JSON.parse(current.tax), ...decided })
    : current.tax
  const isSame = tax === current.tax
  if (current.state === 'approved' && isSame) return
  if ((await withInviters(call, [current.entered_by])).has(actor))
    throw refused(
      'You entered these details, or have invited who did: another person must approve them.',
    )
  // Otherwise an approver could invite themselves to the portal, and approve what they enter there.
  if (parseAffiliateActor(current.entered_by) && [actor, null].includes(current.invited_by))
    throw refused(
      'A person whom you have invited, or who was removed, entered these details: another person must approve them, or enter them anew.',
    )
  const details = await decryptDetails(env, account.id, { ...current, tax })
  if (party === 'payer' && account.self_billing === 'invoice' && !details?.address.street)
    throw refused(NEEDED.street)
  const missing = details && missingForInvoice(details)
  if (missing) throw refused(NEEDED[missing])
  const approvals: string[] = [
    ...new Set([...(isSame ? JSON.parse(current.approvals) : []), actor]),
  ]
  const isEnough = (current.state === 'returned' && isSame) || approvals.length >= account.approvals
  const holdEnds = current.entered_at + account.payee_hold_hours * HOUR_MS
  const next = {
    approvals: JSON.stringify(approvals),
    tax,
    ...(isEnough
      ? {
          state: 'approved' as const,
          reason: null,
          approved_at: Date.now(),
          // What came back before is due like any other then.
          payable_from: Math.max(Date.now(), holdEnds),
        }
      : { state: 'entered' as const }),
  }
  await change(call, current, 'approve', next, (author) => writeInvoices(db, account, author))
}

/** Blocks the current version with a reason, and what else is to change: nothing is paid until details are entered anew. Throws `not_found`, `conflict`. */
export async function blockDetails(
  call: Caller,
  party: Party,
  id: string,
  reason: string,
  also?: () => D1PreparedStatement[],
) {
  const current = await requireCurrent(call.db, { account: call.account.id, party }, id)
  if (current.state === 'blocked') return
  const next = { state: 'blocked' as const, reason }
  await change(call, current, 'block', next, also)
}

/** Says why another affiliate may have the same account, if nobody has yet. Throws `not_found`, `conflict`. */
export async function explainSameAccount(call: Caller, id: string, reason: string) {
  const current = await requireCurrent(call.db, { account: call.account.id, party: 'payee' }, id)
  if (current.same_account !== null) return
  if (current.same_account_as === '[]') throw refused('No other affiliate has the same account.')
  await change(call, current, 'explain', { same_account: reason })
}

/** Returns the current details in full, and notes who read them, and why. Throws `not_found`. */
export async function revealDetails(call: Caller, party: Party, id: string, reason: string) {
  const { env, db, account } = call
  const current = await requireCurrent(db, { account: account.id, party }, id)
  const audited = { [PARTY_KEYS[party]]: id, version: current.version, reason }
  await store(call, party, 'reveal', audited, () => [])
  return decryptDetails(env, account.id, current)
}

/** Erases details: versions that nothing used at once. The others stay, unread, until the years of the account are over. */
export async function eraseDetails(call: Caller, party: Party, id: string): Promise<void> {
  const { db, account } = call
  const current = await requireCurrent(db, { account: account.id, party }, id)
  await store(call, party, 'erase', { [PARTY_KEYS[party]]: id }, (author) =>
    rows.erase(db, author, current),
  )
}

/** The versions that a morning encrypts anew. */
const REENCRYPTED = 2000

/**
 * Encrypts the details of an account anew that another than the first key of TRACKING_KEYS has encrypted, and erases
 * versions whose years are over. `now` is in milliseconds.
 */
export async function tendDetails(
  env: Env,
  db: D1Database,
  { id: account, retain_years: years }: Account,
  now: number,
): Promise<void> {
  const before = new Date(now).setUTCFullYear(new Date(now).getUTCFullYear() - years)
  await db.batch([rows.erasePast(db, account, before)])
  const stale = await rows.readStale(db, account, await currentKeyId(env), REENCRYPTED)
  const replaced = await Promise.all(
    stale.map(async ({ party, id, version, details, tax }) => {
      const of = { party, id, version }
      const clear = (await decryptDetails(env, account, { ...of, details, tax })) as Details
      return { ...of, ...(await encryptDetails(env, { account, ...of }, clear)) }
    }),
  )
  if (replaced.length > 0) await db.batch(rows.replaceEncrypted(db, account, replaced))
}
