import { listAffiliates, listParents, putAffiliates } from '../admin/affiliates.ts'
import { listAssignments, listPlans } from '../admin/plans.ts'
import { ApiError } from '../errors.ts'
import { type ColumnFile, cellOf, readColumnFile, refused } from './csv-columns.ts'
import { dayBefore, type FieldError, type Values, type Visit } from './page.ts'
import { type Plan, startOf } from './parts/affiliate-forms.tsx'
import type { Status } from './parts/affiliate-status.tsx'
import { dayWords, isolated, type List } from './parts/data.tsx'
import { readDay, type Typed } from './typed.ts'

// A file of affiliates: what it would change, and storing it.

/** The columns of a file of affiliates, with what members call them. */
const AFFILIATE_COLUMNS = {
  affiliate_id: 'Affiliate',
  display_name: 'Name',
  contact_email: 'E-mail',
  status: 'Status',
  parent: 'Parent',
  plan: 'Plan',
  from: 'From',
} as const

type ColumnName = keyof typeof AFFILIATE_COLUMNS

/** Reads the file of a form of affiliates. */
export const readAffiliateFile = (values: Values): ColumnFile<ColumnName> =>
  readColumnFile(values, {
    titles: AFFILIATE_COLUMNS,
    synonyms: {
      affiliate_id: ['affiliate code', 'custom id', 'ib', 'ib id', 'partner id', 'user id', 'id'],
      display_name: ['affiliate name', 'full name', 'company', 'company name'],
      contact_email: ['email', 'email address', 'mail'],
      status: ['affiliate status', 'account status'],
      parent: ['parent id', 'parent affiliate', 'parent user id', 'master ib'],
      plan: ['plan name', 'commission plan'],
      from: ['plan from', 'start date', 'valid from'],
    },
    required: ['affiliate_id'],
  })

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
  readonly affiliate_id: string
  /** The cells that are not empty: an empty one keeps what is stored. */
  readonly profile: Readonly<Partial<Record<ProfileName, string>>>
  readonly parent: string | null | undefined
  /** The short name of a plan; empty if the row has none. */
  readonly plan: string
  /** `YYYY-MM-DD`; empty: today or, for a plan that begins later, its first day. */
  readonly from: string
}

/** What a file would change. */
export interface ImportPreview {
  /** Each row that changes something, as a sentence. */
  readonly changes: readonly { readonly row: number; readonly sentence: string }[]
  /** The number of rows that change nothing. */
  readonly unchanged: number
  readonly customers: string
  readonly file: ColumnFile<ColumnName>
}

/**
 * Returns the rows of a file.
 *
 * @throws ApiError `validation_failed` for a file or rows that cannot be understood.
 */
function readRows(file: ColumnFile<ColumnName>, stored: Stored): ImportRow[] {
  if (file.fault) throw refused(file.fault)
  const problems: FieldError[] = []
  const rows = file.rows.map((cells, i): ImportRow => {
    const cell = (name: ColumnName) => cellOf(file, cells, name)
    const understood = (name: ColumnName, read: (text: string) => Typed): string => {
      const typed = cell(name) ? read(cell(name)) : { value: '' }
      if ('value' in typed) return typed.value
      problems.push({ pointer: `/${i}`, message: typed.problem })
      return ''
    }
    const affiliate_id = cell('affiliate_id')
    if (!affiliate_id) problems.push({ pointer: `/${i}`, message: 'The id is missing.' })
    const texts = {
      display_name: cell('display_name'),
      contact_email: cell('contact_email'),
      status: understood('status', readStatus),
    }
    return {
      affiliate_id,
      profile: Object.fromEntries(Object.entries(texts).filter(([, one]) => one)),
      parent: file.positions.has('parent') ? cell('parent') || null : undefined,
      plan: understood('plan', (text) => findPlan(stored, text)),
      from: understood('from', readDay),
    }
  })
  if (problems.length > 0) throw refused('Nothing was stored.', problems)
  return rows
}

/** Returns the state that a cell means. */
function readStatus(text: string): Typed {
  const found = Object.entries(STATUSES).find(([, words]) => words.includes(folded(text)))
  if (found) return { value: found[0] }
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
function findPlan({ plans }: Stored, text: string): Typed {
  if (plans.some(({ plan }) => plan === text)) return { value: text }
  const [found, second] = plans.filter(({ name }) => folded(name) === folded(text))
  if (!found) return { problem: `There is no plan ${text}.` }
  if (!second) return { value: found.plan }
  return { problem: `More than one plan has the name ${text}. Write a short name.` }
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

/** Returns what a row changes. */
function changeOf(sent: ImportRow, stored: Stored, now: number): RowChange {
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
  return {
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
}

/** Returns whether a row changes nothing. */
const isUnchanged = ({ isNew, profile, parent, plan }: RowChange): boolean =>
  !(isNew || profile.length > 0 || parent || plan)

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

/** Compares the file of a form with what is stored. */
async function readImport(values: Values, visit: Visit) {
  const file = readAffiliateFile(values)
  const stored = await readStored(visit)
  const rows = readRows(file, stored).map((row) => changeOf(row, stored, visit.today))
  const changes = rows.flatMap((change, i) =>
    isUnchanged(change) ? [] : [{ row: i + 1, sentence: sentenceOf(change) }],
  )
  return { file, changes, affiliates: affiliatesOf(rows, values('customers')) }
}

/**
 * Returns what the file of a form would change. Nothing is stored.
 *
 * @throws ApiError `validation_failed` if a row is refused.
 */
export async function previewImport(values: Values, visit: Visit): Promise<ImportPreview> {
  const { file, changes, affiliates } = await readImport(values, visit)
  await visit.api.call(putAffiliates, { account: visit.account, dry_run: true, affiliates })
  const unchanged = affiliates.length - changes.length
  return { changes, unchanged, customers: values('customers'), file }
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
  const { changes, affiliates } = await readImport(values, visit)
  if (seenText({ changes }) !== values('seen').replaceAll('\r\n', '\n')) {
    throw new ApiError('conflict', {
      detail:
        'The file would now change something else: somebody has changed an affiliate or a plan. Nothing was stored. Look at what would change now.',
    })
  }
  await visit.api.call(putAffiliates, { account: visit.account, affiliates })
  return changes.length
}
