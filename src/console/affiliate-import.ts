import { writeCsv } from '../commission/csv.ts'
import { ApiError } from '../errors.ts'
import { type ColumnFile, cellOf, type FileColumns, readColumnFile } from './csv-columns.ts'
import { type Step, sendInOrder } from './in-order.ts'
import { apiPath, dayBefore, type FieldError, type Values, type Visit } from './page.ts'
import { dayWords, isolated, type List } from './parts/data.tsx'
import { readDay } from './typed.ts'

// A file of affiliates: what it would change, and storing it.

/** The columns of a file of affiliates, with what members call them. */
export const AFFILIATE_COLUMNS = {
  affiliate_id: 'Affiliate',
  parent: 'Parent',
  plan: 'Plan',
  from: 'From',
} as const

type ColumnName = keyof typeof AFFILIATE_COLUMNS

const FILE: FileColumns<ColumnName> = {
  titles: AFFILIATE_COLUMNS,
  aliases: {
    affiliate: 'affiliate_id',
    ib: 'affiliate_id',
    id: 'affiliate_id',
    parent_id: 'parent',
    referred_by: 'parent',
    referrer: 'parent',
    since: 'from',
    date: 'from',
  },
  required: ['affiliate_id'],
}

/** The most rows of a file: those of one request. */
const MAX_ROWS = 1000

/** How often the rows that are left are checked again after others were refused. */
const MAX_CHECKS = 5

/** A row of the file. `parent` is null if its cell is empty, and undefined if the file has no such column. */
interface ImportRow {
  /** From 1, without the header. */
  readonly row: number
  readonly affiliate_id: string
  readonly parent: string | null | undefined
  readonly plan: string
  /** `YYYY-MM-DD`; empty: today. */
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
function readRows(values: Values): { rows: ImportRow[]; refusals: RowRefusal[] } {
  const file = readAffiliateFile(values)
  const { header, rows, missing, fault, positions } = file
  if (fault) throw refused(fault)
  if (header.length === 0) throw refused('Choose a file, or paste its rows.')
  if (missing.length > 0) {
    throw refused(
      'The file has no column “Affiliate”. Say below which of its columns has the ids of affiliates.',
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
    const message = 'problem' in from ? from.problem : affiliate_id ? null : 'The id is missing.'
    if (message) refusals.push({ row, affiliate_id, message })
    if (message || 'problem' in from) return []
    const parent = positions.has('parent') ? cell('parent') || null : undefined
    return [{ row, affiliate_id, parent, plan: cell('plan'), from: from.value }]
  })
  return { rows: understood, refusals }
}

/** What is stored of the affiliates of an account. */
interface Stored {
  /** The last parent of each affiliate that is configured. */
  readonly parents: ReadonlyMap<string, string | null>
  /** The assignments of each affiliate, and of `*`, by first day. */
  readonly assignments: ReadonlyMap<string, readonly { plan: string; from: string }[]>
  readonly plans: ReadonlySet<string>
}

/** Reads all pages of a list. */
async function readAll<Row>({ api }: Visit, path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let cursor: string | undefined; ; ) {
    const { data, meta } = await api.get<List<Row>>(path, { per_page: 500, cursor })
    rows.push(...data)
    if (meta.next_cursor === null) return rows
    cursor = meta.next_cursor
  }
}

async function readStored(visit: Visit): Promise<Stored> {
  const { api, account } = visit
  type Parents = { affiliate_id: string; parents: { parent: string | null }[] }
  type Assignment = { affiliate_id: string; plan: string; from: string }
  const [parents, assignments, plans] = await Promise.all([
    readAll<Parents>(visit, apiPath(account, 'affiliates', 'parents')),
    readAll<Assignment>(visit, apiPath(account, 'assignments')),
    api.get<{ data: { plan: string }[] }>(apiPath(account, 'plans')),
  ])
  return {
    parents: new Map(parents.map((one) => [one.affiliate_id, one.parents.at(-1)?.parent ?? null])),
    assignments: Map.groupBy(assignments, ({ affiliate_id }) => affiliate_id),
    plans: new Set(plans.data.map(({ plan }) => plan)),
  }
}

/** Returns the plan that governs customers who sign up on a day: of an affiliate's own assignments, or of `*`. */
function planOn({ assignments }: Stored, affiliate: string, day: string): string | null {
  const latest = (id: string) => assignments.get(id)?.findLast(({ from }) => from <= day)
  return (latest(affiliate) ?? latest('*'))?.plan ?? null
}

/** What a row changes. */
interface RowChange {
  readonly sent: ImportRow
  readonly isNew: boolean
  readonly parent: { readonly before: string | null; readonly after: string | null } | null
  readonly plan: { readonly before: string | null; readonly after: string } | null
  /** `YYYY-MM-DD`. */
  readonly day: string
}

/** Returns what a row changes; null if nothing. */
function changeOf(sent: ImportRow, stored: Stored, today: string): RowChange | null {
  const { affiliate_id, parent, plan } = sent
  const day = sent.from || today
  const isNew = !stored.parents.has(affiliate_id)
  const before = stored.parents.get(affiliate_id) ?? null
  const planBefore = planOn(stored, affiliate_id, day)
  const change: RowChange = {
    sent,
    isNew,
    parent: parent !== undefined && parent !== before ? { before, after: parent } : null,
    plan: plan !== '' && plan !== planBefore ? { before: planBefore, after: plan } : null,
    day,
  }
  return isNew || change.parent || change.plan ? change : null
}

/** Writes what a row changes as a sentence, in which invisible characters have their names, such as `IB-07: parent IB-01 → IB-02 from 1 Dec 2026`. */
function sentenceOf({ sent: { affiliate_id }, isNew, parent, plan, day }: RowChange): string {
  const name = (id: string | null, none: string) => (id === null ? none : isolated(id))
  const from = ` from ${dayWords(day)}`
  const parts = [
    parent &&
      (isNew
        ? `below ${name(parent.after, 'nobody')}${from}`
        : `parent ${name(parent.before, 'none')} → ${name(parent.after, 'none')}${from}`),
    plan &&
      (isNew
        ? `with the plan ${isolated(plan.after)}${from}`
        : `plan ${name(plan.before, 'none')} → ${isolated(plan.after)}${from}`),
  ].filter((part) => part !== null)
  const id = isolated(affiliate_id)
  if (!isNew) return `${id}: ${parts.join('; ')}`
  return parts.length === 0 ? `${id} is new` : `${id} is new, ${parts.join(', ')}`
}

/** Returns the affiliates of changes as `PUT …/affiliates` takes them. */
const affiliatesOf = (changes: readonly RowChange[]) =>
  changes.map(({ sent, parent }) => ({
    affiliate_id: sent.affiliate_id,
    ...(parent && { parent: parent.after, ...(sent.from && { from: sent.from }) }),
  }))

/** Returns the refusals of rows by the API: it checks them, and stores nothing. */
async function checkChanges(
  { api, account }: Visit,
  changes: readonly RowChange[],
): Promise<RowRefusal[]> {
  if (changes.length === 0) return []
  const request = {
    method: 'PUT',
    path: apiPath(account, 'affiliates'),
    query: { dry_run: 'true' },
    body: affiliatesOf(changes),
  } as const
  const error = await api.send(request).then(
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
}

/** Compares the file of a form with what is stored, and checks what it would change. */
async function readImport(values: Values, visit: Visit): Promise<Import> {
  const { rows, refusals } = readRows(values)
  const stored = await readStored(visit)
  const today = dayBefore(visit.now, 0)
  const known = rows.filter(({ row, affiliate_id, plan }) => {
    if (plan === '' || stored.plans.has(plan)) return true
    const message = `There is no plan ${plan}.`
    refusals.push({ row, affiliate_id, message })
    return false
  })
  const found = known.map((row) => changeOf(row, stored, today))
  let changes = found.filter((one) => one !== null)
  for (let check = 1; check <= MAX_CHECKS; check++) {
    const refusedRows = await checkChanges(visit, changes)
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
  }
}

/** Returns the rows of changes as a file. */
const fileOf = (changes: readonly RowChange[]): string => {
  const hasParents = changes.some(({ sent }) => sent.parent !== undefined)
  const header = ['affiliate_id', ...(hasParents ? ['parent'] : []), 'plan', 'from']
  const cells = ({ sent: { affiliate_id, parent, plan, from } }: RowChange) => [
    affiliate_id,
    ...(hasParents ? [parent ?? ''] : []),
    plan,
    from,
  ]
  return writeCsv([header, ...changes.map(cells)])
}

/** Returns what the file of a form would change. Nothing is stored. */
export async function previewImport(values: Values, visit: Visit): Promise<ImportPreview> {
  const { changes, refusals, unchanged } = await readImport(values, visit)
  return {
    changes: changes.map((change) => ({ row: change.sent.row, sentence: sentenceOf(change) })),
    refusals,
    unchanged,
    csv: fileOf(changes),
    customers: values('customers'),
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
  await sendInOrder(visit.api, stepsOf(changes, values('customers'), visit))
  return changes.length
}

function stepsOf(changes: readonly RowChange[], customers: string, { account }: Visit): Step[] {
  const assignments = changes.flatMap(({ sent: { affiliate_id }, plan, day }) =>
    plan
      ? [
          {
            affiliate_id,
            plan: plan.after,
            from: day,
            customers: customers === 'new' ? 'new' : 'all',
          },
        ]
      : [],
  )
  const affiliates = changes.filter(({ isNew, parent }) => isNew || parent)
  const steps: (Step | false)[] = [
    assignments.length > 0 && {
      // First, since only they can be refused for what is closed.
      request: { method: 'PUT', path: apiPath(account, 'assignments'), body: assignments },
      done: 'The plans are assigned.',
      notDone: '',
    },
    affiliates.length > 0 && {
      request: {
        method: 'PUT',
        path: apiPath(account, 'affiliates'),
        body: affiliatesOf(affiliates),
      },
      done: '',
      notDone: 'New affiliates and parents were not stored.',
    },
  ]
  return steps.filter((step) => step !== false)
}
