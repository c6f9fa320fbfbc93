import {
  type ArchivedList,
  type ListedMonth,
  type ListedPart,
  type ListedRecords,
  readArchivedList,
} from '../db/archive/list-parts.ts'
import { RecordsArchived } from '../db/archive/needed.ts'
import { ARCHIVED_TABLES, type ArchivedResource } from '../db/archive/tables.ts'
import { dayText } from '../db/column-types.ts'
import { byteLength } from '../db/json-chunks.ts'
import {
  type Count,
  type FoundPage,
  limitCount,
  MAX_PAGE_BYTES,
  offsetOf,
  type Page,
} from '../db/paginate.ts'
import {
  type Filter,
  listedValues,
  listStoredRecords,
  orderOfDays,
  presentPage,
  type RecordView,
} from '../db/records/list.ts'
import { ApiError } from '../errors.ts'
import { OBJECT_LIMITS } from './object.ts'
import {
  ArchiveChanged,
  type ArchivedRow,
  type ArchiveReader,
  compareKeys,
  groupsOf,
  type KeyValue,
  openPart,
  type RowGroup,
  readArchive,
} from './reader.ts'

/** The limits of a page with archived records. It always has a record if there is one. */
export const ARCHIVE_LIST_LIMITS = {
  /** The objects that it reads. */
  objects: 10,
  /** The records of these objects: those of the largest one. */
  records: OBJECT_LIMITS.records,
  /** The spans of days between archived months in which it looks for records. */
  spans: 4,
}

/** The days that the database can have, as numbers since 1970. */
const ALL_DAYS = { first: -719_528, last: 2_932_896 }

/**
 * Reads one page of an account's records, those of archived months from their objects. A list whose months are
 * archived is in the order of days, also without a filter.
 *
 * @throws RecordsArchived if an object is damaged.
 */
export async function listRecords(
  reader: ArchiveReader,
  view: RecordView,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  return presentPage(view, await readRows(reader, view, filter, page))
}

async function readRows(
  reader: ArchiveReader,
  view: RecordView,
  filter: Filter,
  page: Page,
): Promise<FoundPage> {
  const isByKey = Object.keys(filter).length === 0 && view.recordTable.key.length === 1
  // A walk that began with archived months goes on in their order, also if they are back.
  const goesOnByDay = isByKey && page.after !== null && page.after.length > 1
  if (!goesOnByDay) {
    try {
      return await listStoredRecords(reader.db, view, reader.account, filter, page)
    } catch (error) {
      if (!(error instanceof RecordsArchived)) throw error
      if (isByKey && page.after) throw cursorOfBefore()
    }
  }
  return readArchive(reader, () => readPage({ reader, view, filter, page }))
}

const cursorOfBefore = () =>
  new ApiError('invalid_query', {
    detail:
      'Records were archived after this `cursor` was issued, so the order of the list has changed. Begin again without `cursor`.',
  })

/** What is read. */
interface Task {
  readonly reader: ArchiveReader
  readonly view: RecordView
  readonly filter: Filter
  readonly page: Page
}

/** Days without archived months. */
interface Span {
  readonly first: number
  readonly last: number
  /** The number of records of the list on them; null if they were not counted. */
  readonly count: number | null
}

/** A part of a list, in the order of the list. */
type Segment = Span | ListedPart

/** Returns the parts of a list behind the cursor. */
function segmentsOf(
  months: readonly ListedMonth[],
  parts: readonly ListedPart[],
  { first_day, last_day }: Pick<ListedRecords, 'first_day' | 'last_day'>,
): Segment[] {
  const segments: Segment[] = []
  let first = first_day
  const addSpan = (last: number) => {
    if (first <= last) segments.push({ first, last, count: null })
  }
  for (const month of months) {
    addSpan(month.first_day - 1)
    segments.push(...parts.filter((part) => part.first_day === month.first_day))
    first = Math.max(first, month.last_day + 1)
  }
  addSpan(last_day)
  return segments
}

/** Returns the list as SQL knows it. */
function listedRecords({ reader, view, filter }: Task): ListedRecords {
  const { customer_id, first_day, last_day } = listedValues(view, reader.account, filter)
  return {
    account: reader.account,
    resource: view.name,
    customer_id: customer_id === undefined ? null : String(customer_id),
    first_day: Number(first_day ?? ALL_DAYS.first),
    last_day: Number(last_day ?? ALL_DAYS.last),
  }
}

/** Reads the state of the archive for a page. */
function readState({ reader, filter, page }: Task, list: ListedRecords): Promise<ArchivedList> {
  const { after, counted } = page
  const wanted = after
    ? { from_day: Number(after[0]), rows: ARCHIVE_LIST_LIMITS.objects + 2 }
    : { rows: offsetOf(page) + page.size + 1 }
  const isFiltered = Object.keys(filter).length > 0
  const toCount = counted ? null : isFiltered ? 'list' : 'resource'
  return readArchivedList(reader.db, list, wanted, toCount)
}

async function readPage(task: Task): Promise<FoundPage> {
  const { page, view, filter } = task
  const list = listedRecords(task)
  const { months, parts, total } = await readState(task, list)
  const from = page.after ? Math.max(list.first_day, Number(page.after[0])) : list.first_day
  const behind = months.filter((month) => month.last_day >= from)
  const all = segmentsOf(behind, parts, { ...list, first_day: from })
  const isFiltered = Object.keys(filter).length > 0
  const isCounted = page.after === null && (offsetOf(page) > 0 || (isFiltered && !page.counted))
  const segments = isCounted ? await countSpans(task, all) : all
  const count =
    page.counted ??
    (isFiltered ? countOf(segments, total ?? 0) : { total: total ?? 0, isLimited: false })
  const walk = new Walk(task, list, segments)
  await walk.run()
  return walk.pageOf(count, orderOfDays(view, filter))
}

/** Returns the number of records of a list: the archived ones, and those of the spans. */
function countOf(segments: readonly Segment[], archived: number): Count {
  const spans = segments.map((one) => ('count' in one ? (one.count ?? 0) : 0))
  return limitCount(spans.reduce((sum, one) => sum + one, archived))
}

/** Counts the records of the spans. */
async function countSpans(task: Task, segments: readonly Segment[]): Promise<Segment[]> {
  const counted: Segment[] = []
  for (const one of segments) {
    if (!('count' in one)) {
      counted.push(one)
      continue
    }
    const { total, isLimited } = await readSpan(task, one, { number: 1, size: 1, after: null })
    // One record more makes the sum larger than the limit.
    counted.push({ ...one, count: total + Number(isLimited) })
  }
  return counted
}

/** Reads records of a span of days from the database. */
async function readSpan(
  { reader, view, filter }: Task,
  { first, last }: Span,
  page: Page,
): Promise<FoundPage> {
  const days = { ...filter, from: dayText(first), to: dayText(last) }
  try {
    return await listStoredRecords(reader.db, view, reader.account, days, page)
  } catch (error) {
    throw error instanceof RecordsArchived ? new ArchiveChanged() : error
  }
}

/** A row of the page. */
interface WalkedRow {
  readonly row: Record<string, unknown>
  readonly isArchived: boolean
}

/** Collects the rows of a page, segment by segment. */
class Walk {
  readonly #task: Task
  readonly #list: ListedRecords
  readonly #segments: readonly Segment[]
  readonly #rows: WalkedRow[] = []
  #bytes = 0
  /** The rows before the page that are left to skip. */
  #skipped: number
  #read = { objects: 0, records: 0, spans: 0 }
  /** Whether rows may follow those that were collected. */
  #hasMore = false
  #refusal: Pick<FoundPage, 'excess' | 'maxDays'> | null = null

  constructor(task: Task, list: ListedRecords, segments: readonly Segment[]) {
    this.#task = task
    this.#list = list
    this.#segments = segments
    this.#skipped = offsetOf(task.page)
  }

  /** Returns how many rows are missing: one more than the page shows tells that it is not the last one. */
  get #missing(): number {
    return this.#task.page.size + 1 - this.#rows.length
  }

  /** Collects rows until the page is full, or its limits are reached. */
  async run(): Promise<void> {
    for (const segment of this.#segments) {
      if (this.#hasMore || this.#missing <= 0) return
      if ('count' in segment) await this.#addSpan(segment)
      else await this.#addPart(segment)
    }
  }

  async #addSpan(span: Span): Promise<void> {
    if (span.count !== null && this.#skipped >= span.count) {
      this.#skipped -= span.count
      return
    }
    if (this.#rows.length > 0 && this.#read.spans >= ARCHIVE_LIST_LIMITS.spans) {
      this.#hasMore = true
      return
    }
    this.#read.spans += 1
    const { after, maxBytes } = this.#task.page
    const isBehindCursor = after !== null && Number(after[0]) >= span.first
    const found = await readSpan(this.#task, span, {
      number: 1,
      size: this.#missing,
      skipped: this.#skipped,
      after: isBehindCursor ? after : null,
      counted: { total: 0, isLimited: false },
      ...(maxBytes !== undefined && { maxBytes }),
    })
    this.#skipped = 0
    const { excess, maxDays } = found
    if (excess || maxDays !== undefined) {
      this.#hasMore = true
      this.#refusal = { ...(excess && { excess }), ...(maxDays !== undefined && { maxDays }) }
      return
    }
    for (const row of found.data) this.#add(row, false)
  }

  async #addPart(part: ListedPart): Promise<void> {
    if (this.#skipped >= part.listed && this.#skipped > 0) {
      this.#skipped -= part.listed
      return
    }
    const { after } = this.#task.page
    const groups = groupsOf(part)
    const hasCursor = after !== null && Number(after[0]) >= Number(groups[0]?.[1][0])
    // All rows of the part follow those of the page.
    const isNext = this.#missing === 1 && !hasCursor
    if (isNext || this.#isSpent(part)) {
      this.#hasMore = true
      return
    }
    this.#read.objects += 1
    this.#read.records += part.records
    await this.#addGroups(part, groups)
  }

  #isSpent({ records }: ListedPart): boolean {
    const limits = ARCHIVE_LIST_LIMITS
    return (
      this.#rows.length > 0 &&
      (this.#read.objects >= limits.objects || this.#read.records + records > limits.records)
    )
  }

  async #addGroups(part: ListedPart, groups: readonly RowGroup[]): Promise<void> {
    const { reader, view } = this.#task
    const resource = view.name as ArchivedResource
    let readRowGroup: Awaited<ReturnType<typeof openPart>> | null = null
    for (const [i, group] of groups.entries()) {
      if (this.#missing <= 0) return
      if (!this.#mayHave(resource, group)) continue
      readRowGroup ??= await openPart(reader, resource, part)
      for (const row of await readRowGroup(i)) {
        if (!this.#isListed(resource, row)) continue
        if (this.#skipped > 0) this.#skipped -= 1
        else if (this.#missing > 0) this.#add(row, true)
      }
    }
  }

  /** Whether a row group may have records of the list behind the cursor. */
  #mayHave(resource: ArchivedResource, [, first, last]: RowGroup): boolean {
    const { first_day, last_day, customer_id } = this.#list
    const from = Math.max(Number(first[0]), first_day)
    const to = Math.min(Number(last[0]), last_day)
    if (from > to) return false
    const { after } = this.#task.page
    if (after && compareKeys(last, this.#cursorKey(resource, after)) <= 0) return false
    if (customer_id === null) return true
    for (let day = from; day <= to; day++) {
      const prefix = [day, customer_id]
      if (compareKeys(prefix, first) >= 0 && compareKeys(prefix, last) <= 0) return true
    }
    return false
  }

  /** Returns the cursor as a whole key. */
  #cursorKey(resource: ArchivedResource, after: readonly KeyValue[]): KeyValue[] {
    const names = orderOfDays(this.#task.view, this.#task.filter)
    const { customer_id } = this.#list
    return ARCHIVED_TABLES[resource].key.map(
      (name) => after[names.indexOf(name)] ?? customer_id ?? '',
    )
  }

  #isListed(resource: ArchivedResource, row: ArchivedRow): boolean {
    const { key, dayColumn } = ARCHIVED_TABLES[resource]
    const { first_day, last_day, customer_id } = this.#list
    const day = Number(row[dayColumn])
    if (day < first_day || day > last_day) return false
    if (customer_id !== null && row.customer_id !== customer_id) return false
    const { after } = this.#task.page
    if (!after) return true
    const own = key.map((name) => row[name] as KeyValue)
    return compareKeys(own, this.#cursorKey(resource, after)) > 0
  }

  /** Adds a row, unless the page then had more bytes than it may. */
  #add(row: Record<string, unknown>, isArchived: boolean): void {
    if (this.#hasMore) return
    this.#bytes += byteLength(JSON.stringify(row))
    if (this.#rows.length > 0 && this.#bytes > (this.#task.page.maxBytes ?? MAX_PAGE_BYTES)) {
      this.#hasMore = true
      return
    }
    this.#rows.push({ row, isArchived })
  }

  /** Returns the collected page. */
  pageOf(count: Count, key: readonly string[]): FoundPage {
    const { size } = this.#task.page
    if (this.#refusal && this.#rows.length === 0) {
      return { data: [], ...count, last: null, ...this.#refusal }
    }
    const shown = this.#rows.slice(0, size)
    const last = this.#hasMore || this.#rows.length > size ? shown.at(-1) : undefined
    const archived = shown.some(({ isArchived }) => isArchived)
    return {
      data: shown.map(({ row }) => row),
      ...count,
      ...(archived && { archived }),
      last: last ? key.map((name) => last.row[name] as KeyValue) : null,
    }
  }
}
