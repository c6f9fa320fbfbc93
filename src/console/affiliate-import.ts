import { listAffiliates, listParents, putAffiliates } from '../admin/affiliates.ts'
import { listAssignments, listPlans } from '../admin/plans.ts'
import { writeCsv } from '../commission/csv.ts'
import { listed } from '../commission/engine/reasons.ts'
import { ApiError } from '../errors.ts'
import {
  type ColumnFile,
  cellOf,
  type FileColumns,
  fileText,
  readColumnFile,
} from './csv-columns.ts'
import { isAssumedText } from './form.ts'
import { dayBefore, type FieldError, type Values, type Visit } from './page.ts'
import { type Plan, startOf } from './parts/affiliate-forms.tsx'
import type { Status } from './parts/affiliate-status.tsx'
import { dayWords, isolated, type List } from './parts/data.tsx'
import { readDay, type Typed } from './typed.ts'

// A file of affiliates: what it would change, and storing it.

/** The columns of a file of affiliates, with what members call them. */
export const AFFILIATE_COLUMNS = {
  affiliate_id: 'Affiliate',
  display_name: 'Name',
  first_name: 'First name',
  last_name: 'Last name',
  contact_email: 'E-mail',
  status: 'Status',
  parent: 'Parent',
  plan: 'Plan',
  from: 'From',
} as const

type ColumnName = keyof typeof AFFILIATE_COLUMNS

const FILE: FileColumns<ColumnName> = {
  titles: AFFILIATE_COLUMNS,
  aliases: {
    affiliate_id: [
      'custom id',
      'affiliate code',
      'ib id',
      'ib code',
      'ib',
      'partner id',
      'id',
      'user id',
      'ref id',
      'affiliate',
    ],
    display_name: ['name', 'affiliate name', 'full name', 'company', 'company name', 'affiliate'],
    first_name: [],
    last_name: [],
    contact_email: ['email', 'mail', 'mail address', 'contact', 'email address', 'email adresse'],
    status: ['affiliate status', 'account status', 'r status'],
    parent: [
      'parent id',
      'parent affiliate',
      'parent email',
      'parent user id',
      'custom parent ref id',
      'master ib',
      'referred by',
      'referrer',
      'upline',
    ],
    plan: ['plan name', 'commission plan', 'affiliate type', 'payout group name'],
    from: ['since', 'date', 'plan from', 'start', 'start date', 'start day', 'valid from'],
  },
  required: ['affiliate_id'],
}

/** The most rows of a file: those of one request. */
const MAX_ROWS = 1000

/** How often the rows that are left are checked again after others were refused. */
const MAX_CHECKS = 5

/** What the team knows of affiliates, and what sentences call it. */
const PROFILE = { display_name: 'name', contact_email: 'e-mail', status: 'status' } as const

type ProfileName = keyof typeof PROFILE

const PROFILE_NAMES = Object.keys(PROFILE) as ProfileName[]

/** What other systems call the two states of affiliates. */
const STATUSES: Readonly<Record<Status, readonly string[]>> = {
  active: ['active', 'approved', 'accepted', 'enabled', 'a'],
  suspended: ['suspended', 'inactive', 'pending', 'rejected', 'declined', 'disabled', 'p', 'd'],
}

/** A row of the file. `parent` is null if its cell is empty, and undefined if the file has no such column. */
interface ImportRow {
  /** From 1, without the header. */
  readonly row: number
  readonly affiliate_id: string
  /** The cells that are not empty: an empty one keeps what is stored. */
  readonly profile: Readonly<Partial<Record<ProfileName, string>>>
  readonly parent: string | null | undefined
  /** The short name of a plan, or what else the file calls it. */
  readonly plan: string
  /** `YYYY-MM-DD`; empty: today or, for a plan that begins later, its first day. */
  readonly from: string
}

/** Why a row is refused. */
export interface RowRefusal {
  readonly row: number
  readonly affiliate_id: string
  readonly message: string
}

/** What a file would change. */
export interface ImportPreview {
  /** Each row that changes something, as a sentence. */
  readonly changes: readonly { readonly row: number; readonly sentence: string }[]
  readonly refusals: readonly RowRefusal[]
  /** The rows that change nothing. */
  readonly unchanged: number
  /** The rows that are stored, as a file. */
  readonly csv: string
  readonly customers: string
  readonly file: ColumnFile<ColumnName>
  /** The text of the file. */
  readonly text: string
  /** Whether the file does not say its encoding: Windows-1252 was assumed. */
  readonly isAssumed: boolean
}

/** Reads the file of the form. */
export const readAffiliateFile = (values: Values): ColumnFile<ColumnName> =>
  readColumnFile(values, FILE)

const refused = (detail: string, errors: readonly FieldError[] = []) =>
  new ApiError('validation_failed', { detail, errors: errors.map((one) => ({ ...one })) })

/**
 * Returns the rows of the file of a form, and those that cannot be understood.
 *
 * @throws ApiError `validation_failed` for a file that cannot be read.
 */
function readRows(values: Values): {
  rows: ImportRow[]
  refusals: RowRefusal[]
  file: ColumnFile<ColumnName>
} {
  const file = readAffiliateFile(values)
  const { header, rows, missing, fault, positions } = file
  if (fault) throw refused(fault)
  if (header.length === 0) throw refused('Choose a file, or paste its rows.')
  if (missing.length > 0) {
    throw refused(
      'The file has no column “Affiliate”. Choose below which of its columns has the ids of affiliates.',
    )
  }
  if (rows.length === 0) throw refused('The file has a header, but no rows.')
  if (rows.length > MAX_ROWS) {
    const limit = MAX_ROWS.toLocaleString('en')
    throw refused(`A file has at most ${limit} rows, this one ${rows.length.toLocaleString('en')}.`)
  }
  const refusals: RowRefusal[] = []
  const understood = rows.flatMap((cells, i): ImportRow[] => {
    const cell = (name: ColumnName) => cellOf(file, cells, name)
    const [row, affiliate_id, text] = [i + 1, cell('affiliate_id'), cell('from')]
    const from = text === '' ? { value: '' } : readDay(text)
    const status = readStatus(cell('status'))
    const problem = [from, status].find((one) => 'problem' in one)?.problem
    const message = affiliate_id ? problem : 'The id is missing.'
    if (message) refusals.push({ row, affiliate_id, message })
    if (message || 'problem' in from || 'problem' in status) return []
    const parent = positions.has('parent') ? cell('parent') || null : undefined
    const person = `${cell('first_name')} ${cell('last_name')}`.trim()
    const display_name = [...new Set([cell('display_name'), person])].filter(Boolean).join(', ')
    const texts = { display_name, contact_email: cell('contact_email'), status: status.value }
    const profile = Object.fromEntries(Object.entries(texts).filter(([, one]) => one))
    return [{ row, affiliate_id, profile, parent, plan: cell('plan'), from: from.value }]
  })
  return { rows: understood, refusals, file }
}

/** Returns the state that a cell means; empty if the cell is. */
function readStatus(text: string): Typed {
  const found = Object.entries(STATUSES).find(([, words]) => words.includes(folded(text)))
  if (found || text === '') return { value: found?.[0] ?? '' }
  return { problem: `The status ${text} is not known. Write active or suspended.` }
}

/** What is stored of the affiliates of an account. */
interface Stored {
  /** The last parent of each affiliate that is configured. */
  readonly parents: ReadonlyMap<string, string | null>
  /** The assignments of each affiliate, and of `*`, by first day. */
  readonly assignments: ReadonlyMap<string, readonly { plan: string; from: string }[]>
  readonly plans: readonly Plan[]
  readonly profiles: ReadonlyMap<string, Profile>
}

type Profile = Readonly<Record<ProfileName, string | null>> & { readonly affiliate_id: string }

/** Reads all pages of a list. */
async function readAll<Row>(
  read: (page: { per_page: number; cursor: string | undefined }) => Promise<List<Row>>,
): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, meta } = await read({ per_page: 500, cursor })
    rows.push(...data)
    if (meta.next_cursor === null) return rows
    cursor = meta.next_cursor
  }
}

async function readStored(visit: Visit): Promise<Stored> {
  const { api, account } = visit
  const [parents, assignments, plans, profiles] = await Promise.all([
    readAll((page) => api.call(listParents, { account, ...page })),
    readAll((page) => api.call(listAssignments, { account, ...page })),
    api.call(listPlans, { account }),
    readAll((page) => api.call(listAffiliates, { account, ...page })),
  ])
  return {
    parents: new Map(parents.map((one) => [one.affiliate_id, one.parents.at(-1)?.parent ?? null])),
    assignments: Map.groupBy(assignments, ({ affiliate_id }) => affiliate_id),
    plans: plans.data,
    profiles: new Map(profiles.map((one) => [one.affiliate_id, one])),
  }
}

/** Returns the plan of an affiliate, or of `*`, on a day. */
const planOn = ({ assignments }: Stored, affiliate: string, day: string): string | null =>
  assignments.get(affiliate)?.findLast(({ from }) => from <= day)?.plan ?? null

const folded = (text: string) => text.trim().replaceAll(/\s+/g, ' ').toLowerCase()

/** Returns the plan that a cell means: by its short name, else by its name in any case. */
function findPlan({ plans }: Stored, text: string): Plan | { readonly problem: string } {
  const exact = plans.find(({ plan }) => plan === text)
  const same = plans.filter(({ plan, name }) => [plan, name].map(folded).includes(folded(text)))
  const found = exact ?? same[0]
  if (!found) {
    const choice = 'Add it, or choose below that no column has plans.'
    return { problem: `There is no plan ${text}. ${choice}` }
  }
  if (exact || same.length === 1) return found
  const names = listed(same.map(({ plan }) => plan))
  return { problem: `${same.length} plans have the name ${text}. Write a short name: ${names}.` }
}

/** Returns the ids of affiliates, stored or in the file, by their e-mail addresses in lower case. */
function idsByEmail(rows: readonly ImportRow[], { profiles }: Stored): Map<string, string[]> {
  const emails = new Map([...profiles].map(([id, { contact_email }]) => [id, contact_email]))
  for (const { affiliate_id, profile } of rows) {
    if (profile.contact_email) emails.set(affiliate_id, profile.contact_email)
  }
  return Map.groupBy(emails.keys(), (id) => folded(emails.get(id) ?? ''))
}

/** What a row changes. */
interface RowChange {
  readonly sent: ImportRow
  readonly isNew: boolean
  readonly profile: readonly {
    readonly name: ProfileName
    readonly before: string | null
    readonly after: string
  }[]
  readonly parent: { readonly before: string | null; readonly after: string | null } | null
  /** The id of another plan, and the names of both. */
  readonly plan: {
    readonly id: string
    readonly before: string | null
    readonly after: string
  } | null
  /** The first day of the parent (`YYYY-MM-DD`). */
  readonly parentDay: string
  /** The first day of the plan (`YYYY-MM-DD`). */
  readonly planDay: string
}

/** Returns what a row changes; null if nothing. */
function changeOf(sent: ImportRow, stored: Stored, now: number): RowChange | null {
  const { affiliate_id, parent, plan } = sent
  const nameOf = (id: string) => stored.plans.find((one) => one.plan === id)?.name ?? id
  const chosen = stored.plans.find((one) => one.plan === plan)
  const planDay = sent.from || startOf(chosen, now)
  const isNew = !stored.parents.has(affiliate_id)
  const before = stored.parents.get(affiliate_id) ?? null
  const own = planOn(stored, affiliate_id, planDay)
  const others = planOn(stored, '*', planDay)
  const profile = PROFILE_NAMES.flatMap((name) => {
    const initial = name === 'status' ? 'active' : null
    const [was, after] = [stored.profiles.get(affiliate_id)?.[name] ?? initial, sent.profile[name]]
    return after === undefined || after === was ? [] : [{ name, before: was, after }]
  })
  const change: RowChange = {
    sent,
    isNew,
    profile,
    parent: parent !== undefined && parent !== before ? { before, after: parent } : null,
    plan:
      plan !== '' && plan !== own
        ? {
            id: plan,
            before: own ? nameOf(own) : others && `${nameOf(others)} (for all)`,
            after: nameOf(plan),
          }
        : null,
    parentDay: sent.from || dayBefore(now, 0),
    planDay,
  }
  return isNew || profile.length > 0 || change.parent || change.plan ? change : null
}

/** Writes what a row changes as a sentence, in which invisible characters have their names, such as `IB-07: parent IB-01 → IB-02 from 1 Dec 2026`. */
function sentenceOf(change: RowChange): string {
  const { sent, isNew, profile, parent, plan, parentDay, planDay } = change
  const name = (id: string | null, none: string) => (id === null ? none : isolated(id))
  const [parentFrom, planFrom] = [parentDay, planDay].map((day) => ` from ${dayWords(day)}`)
  const parts = [
    ...profile.map(({ name: member, before, after }) => {
      const label = PROFILE[member]
      return isNew
        ? `with the ${label} ${isolated(after)}`
        : `${label} ${name(before, 'none')} → ${isolated(after)}`
    }),
    parent &&
      (isNew
        ? `below ${name(parent.after, 'nobody')}${parentFrom}`
        : `parent ${name(parent.before, 'none')} → ${name(parent.after, 'none')}${parentFrom}`),
    plan &&
      (isNew
        ? `with the plan ${isolated(plan.after)}${planFrom}`
        : `plan ${name(plan.before, 'none')} → ${isolated(plan.after)}${planFrom}`),
  ].filter((part) => part !== null)
  const id = isolated(sent.affiliate_id)
  if (!isNew) return `${id}: ${parts.join('; ')}`
  return parts.length === 0 ? `${id} is new` : `${id} is new, ${parts.join(', ')}`
}

/** Returns the affiliates of changes, with their plans for customers who are `new`, or for all. */
const affiliatesOf = (changes: readonly RowChange[], customers: string) =>
  changes.map(({ sent, profile, parent, plan, planDay }) => ({
    affiliate_id: sent.affiliate_id,
    ...Object.fromEntries(profile.map(({ name, after }) => [name, after])),
    ...(parent && { parent: parent.after, ...(sent.from && { from: sent.from }) }),
    ...(plan && {
      assignment: {
        ...{ plan: plan.id, from: planDay },
        customers: customers === 'new' ? ('new' as const) : ('all' as const),
      },
    }),
  }))

/** Returns the refusals of rows by the API: it checks them, and stores nothing. */
async function checkChanges(
  { api, account }: Visit,
  changes: readonly RowChange[],
  customers: string,
): Promise<RowRefusal[]> {
  if (changes.length === 0) return []
  const error = await api
    .call(putAffiliates, { account, dry_run: true, affiliates: affiliatesOf(changes, customers) })
    .then(
      () => null,
      (thrown: unknown) => thrown,
    )
  if (error === null) return []
  if (!(error instanceof ApiError) || error.code !== 'validation_failed') throw error
  const errors: FieldError[] = (error.details.errors ?? []).map((one) => ({ message: '', ...one }))
  const refusals = errors.flatMap(({ pointer = '', message }): RowRefusal[] => {
    const found = changes[Number(/^\/(\d+)/.exec(pointer)?.[1] ?? Number.NaN)]?.sent
    return found ? [{ row: found.row, affiliate_id: found.affiliate_id, message }] : []
  })
  if (refusals.length === 0) throw error
  return refusals
}

/** What a file would change, and how it is stored. */
interface Import {
  readonly changes: readonly RowChange[]
  readonly refusals: readonly RowRefusal[]
  readonly unchanged: number
  readonly file: ColumnFile<ColumnName>
}

/** Compares the file of a form with what is stored, and checks what it would change. */
async function readImport(values: Values, visit: Visit): Promise<Import> {
  const { rows, refusals, file } = readRows(values)
  const stored = await readStored(visit)
  const ids = idsByEmail(rows, stored)
  const known = rows.flatMap((sent): ImportRow[] => {
    const { row, affiliate_id } = sent
    const plan = sent.plan === '' ? sent : findPlan(stored, sent.plan)
    const [parent = sent.parent, other] = (sent.parent && ids.get(folded(sent.parent))) || []
    if ('plan' in plan && !other) return [{ ...sent, parent, plan: plan.plan }]
    const twins = `More than one affiliate has the e-mail address ${sent.parent}. Write an id.`
    refusals.push({ row, affiliate_id, message: 'problem' in plan ? plan.problem : twins })
    return []
  })
  const found = known.map((row) => changeOf(row, stored, visit.today))
  let changes = found.filter((one) => one !== null)
  for (let check = 1; check <= MAX_CHECKS; check++) {
    const refusedRows = await checkChanges(visit, changes, values('customers'))
    if (refusedRows.length === 0) break
    refusals.push(...refusedRows)
    // Without these rows, others may be refused: their parents are missing now.
    const gone = new Set(refusedRows.map(({ row }) => row))
    changes = changes.filter(({ sent }) => !gone.has(sent.row))
  }
  return {
    changes,
    refusals: refusals.toSorted((a, b) => a.row - b.row),
    unchanged: found.length - found.filter((one) => one !== null).length,
    file,
  }
}

/** Returns the rows of changes as a file. */
function fileOf(changes: readonly RowChange[]): string {
  const sent = changes.map((one) => one.sent)
  const columns = Object.keys(AFFILIATE_COLUMNS).filter(
    (name) => name !== 'parent' || sent.some(({ parent }) => parent !== undefined),
  )
  const rows = sent.map(({ profile, ...row }) => new Map(Object.entries({ ...row, ...profile })))
  return writeCsv([columns, ...rows.map((row) => columns.map((name) => `${row.get(name) ?? ''}`))])
}

/** Returns what the file of a form would change. Nothing is stored. */
export async function previewImport(values: Values, visit: Visit): Promise<ImportPreview> {
  const { changes, refusals, unchanged, file } = await readImport(values, visit)
  return {
    changes: changes.map((change) => ({ row: change.sent.row, sentence: sentenceOf(change) })),
    refusals,
    unchanged,
    csv: fileOf(changes),
    customers: values('customers'),
    file,
    text: fileText(values),
    isAssumed: isAssumedText(values),
  }
}

/** Returns the sentences of a preview as the form that stores them sends them back. */
export const seenText = ({ changes }: Pick<ImportPreview, 'changes'>): string =>
  changes.map(({ sentence }) => sentence).join('\n')

/**
 * Stores what a preview has shown, and returns the number of affiliates.
 *
 * @throws ApiError `conflict` if the file would now change something else.
 */
export async function storeImport(values: Values, visit: Visit): Promise<number> {
  const { changes, refusals } = await readImport(values, visit)
  const shown = seenText({
    changes: changes.map((change) => ({ row: 0, sentence: sentenceOf(change) })),
  })
  if (refusals.length > 0 || shown !== values('seen').replaceAll('\r\n', '\n')) {
    throw new ApiError('conflict', {
      detail:
        'Meanwhile somebody has changed an affiliate or a plan of this file. Nothing was stored. Look at what would change now.',
    })
  }
  const { api, account } = visit
  await api.call(putAffiliates, { account, affiliates: affiliatesOf(changes, values('customers')) })
  return changes.length
}
