import { earningWords } from '../../src/commission/engine/earning-words.ts'
import type { FactResource } from '../../src/commission/engine/facts.ts'
import type { PlanTerms } from '../../src/commission/engine/plan.ts'
import {
  countedRecords,
  reasonWords,
  type Unpaid,
} from '../../src/commission/engine/reason-words.ts'
import { periodWords } from '../../src/commission/engine/time-words.ts'
import { escapeText } from '../../src/validation/quote.ts'
import type { AdminRequest, SendRequest } from './request.ts'

// What records earned, and why others earned nothing, in sentences. The terms of plans are read for them.

/** The version of a plan that decided about records. */
interface Decided {
  plan: string | null
  version: number | null
}

type Terms = (decided: Decided) => PlanTerms | null

const versionKey = ({ plan, version }: Decided) => `${plan} ${version}`

/** Reads the terms of the versions that decided, each once. Those that are not found are left out. */
async function readTerms(
  send: SendRequest,
  account: string,
  decided: readonly Decided[],
): Promise<Terms> {
  const terms = new Map<string, PlanTerms>()
  const versions = new Map(decided.map((one) => [versionKey(one), one]))
  for (const [key, { plan, version }] of versions) {
    if (plan === null || version === null) continue
    const path = `accounts/${encodeURIComponent(account)}/plans/${plan}/versions/${version}`
    const found = (await send({ method: 'GET', path, query: {} })) as { terms: PlanTerms }
    terms.set(key, found.terms)
  }
  return (one) => terms.get(versionKey(one)) ?? null
}

/** Writes why records earned nothing, and what to do next. */
function whyText(unpaid: Unpaid & Decided, termsOf: Terms): string {
  const today = new Date().toISOString().slice(0, 10)
  const { sentence, next } = reasonWords(unpaid, termsOf(unpaid), today)
  return `${sentence} ${next.text}`
}

/** Groups of records that earned nothing, as the API returns them. */
interface Unearned {
  data: readonly (Unpaid & Decided & { count: number })[]
}

/** Requests what earned nothing, and adds the reason of each group in words as `why`. */
export async function unearnedInWords(send: SendRequest, request: AdminRequest, account: string) {
  const body = (await send(request)) as Unearned
  const termsOf = await readTerms(send, account, body.data)
  const data = body.data.map((group) => ({
    ...group,
    records: countedRecords(group.count, group),
    why: whyText(group, termsOf),
  }))
  return { ...body, data }
}

/** A record as `GET …/records` finds it. */
interface Found {
  resource: FactResource
  id: string
  customer_id: string
  day: string
  record: Readonly<Record<string, unknown>>
}

type Outcome = Decided & Pick<Unpaid, 'reason' | 'rule' | 'condition' | 'reached' | 'min' | 'until'>

type EarnedLine = Decided &
  Parameters<typeof earningWords>[0] & {
    affiliate_id: string
    period: string
    line_id: string
  }

/** What a record earns, as the API returns it. */
interface Earnings {
  affiliate_id: string | null
  state: Outcome
  lines: readonly EarnedLine[]
}

/** What the records under an id earn: each with its earnings and their sentences. */
export interface EarningsInWords {
  data: readonly {
    resource: string
    id: string
    earnings: Earnings
    sentences: readonly string[]
  }[]
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : null)

/** Returns the request for what a record earns. */
function earningsRequest(
  account: string,
  { resource, id, customer_id, record }: Found,
): AdminRequest {
  const at = `accounts/${encodeURIComponent(account)}/${resource}`
  if (resource === 'activities') return { method: 'GET', path: `${at}/earnings`, query: { id } }
  if (resource !== 'trading-activity') {
    return { method: 'GET', path: `${at}/${encodeURIComponent(id)}/earnings`, query: {} }
  }
  const { date, instrument, currency } = record
  const query = {
    date: String(date),
    customer_id,
    instrument: String(instrument),
    currency: String(currency),
  }
  return { method: 'GET', path: `${at}/earnings`, query }
}

/** Finds the records that are stored under an id, and requests what they earn. */
export async function earningsInWords(
  send: SendRequest,
  request: AdminRequest,
  account: string,
): Promise<EarningsInWords> {
  const { data } = (await send(request)) as { data: readonly Found[] }
  const all: EarningsInWords['data'][number][] = []
  for (const found of data) {
    const { resource, id } = found
    const earnings = (await send(earningsRequest(account, found))) as Earnings
    const termsOf = await readTerms(send, account, [earnings.state, ...earnings.lines])
    all.push({ resource, id, earnings, sentences: sentencesOf(found, earnings, termsOf) })
  }
  return { data: all }
}

function sentencesOf(found: Found, { affiliate_id, state, lines }: Earnings, termsOf: Terms) {
  const { resource, day, record } = found
  if (lines.length === 0 && state.reason !== 'counted') {
    const unpaid = {
      ...state,
      resource,
      day,
      affiliate_id,
      transaction_type: textOf(record.transaction_type),
      eventname: textOf(record.eventname),
      currency: textOf(record.currency) ?? textOf(record.Currency),
    }
    return [`It earned nothing. ${whyText(unpaid, termsOf)}`]
  }
  return lines.map((line) => {
    const terms = termsOf(line)
    const words = earningWords(line, terms)
    return `${words}, by the rule “${line.rule}” of ${terms?.name ?? line.plan}, for the affiliate ${line.affiliate_id} in ${periodWords(line.period)}: ${line.line_id}`
  })
}

/** Formats what the records under an id earn. */
export function formatEarnings(body: unknown): string {
  const { data } = body as EarningsInWords
  if (data.length === 0) return 'No record is stored under this id.'
  return data
    .flatMap(({ resource, id, sentences }) => [
      `${resource} ${id}`,
      ...sentences.map((one) => `  ${one}`),
    ])
    .map(escapeText)
    .join('\n')
}
