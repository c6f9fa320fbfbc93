import { earningWords } from '../../src/commission/engine/earning-words.ts'
import type { PlanTerms } from '../../src/commission/engine/plan.ts'
import {
  countedRecords,
  reasonWords,
  type Unpaid,
} from '../../src/commission/engine/reason-words.ts'
import { periodWords } from '../../src/commission/engine/time-words.ts'
import {
  type Decided,
  earningsAddress,
  type FoundRecord,
  readTermsOf,
  type TermsOf,
  unpaidOf,
} from '../../src/commission/why/found-record.ts'
import { escapeText } from '../../src/validation/quote.ts'
import type { AdminRequest, SendRequest } from './request.ts'

// What records earned, and why others earned nothing, in sentences. The terms of plans are read for them.

/** Reads the terms of the versions that decided about records. */
const readTerms = (
  send: SendRequest,
  account: string,
  decided: readonly Decided[],
): Promise<TermsOf> =>
  readTermsOf(decided, async (plan, version) => {
    const parts = [account, 'plans', plan, 'versions', String(version)]
    return ((await send(getRequest(parts))) as { terms: PlanTerms }).terms
  })

/** Returns the request that reads what is below an account. */
const getRequest = (
  [account = '', ...parts]: readonly string[],
  query: Record<string, string> = {},
): AdminRequest => ({
  method: 'GET',
  path: ['accounts', account, ...parts].map(encodeURIComponent).join('/'),
  query,
})

/** Writes why records earned nothing, and what to do next. */
function whyText(unpaid: Unpaid & Decided, termsOf: TermsOf): string {
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

/** Finds the records that are stored under an id, and requests what they earn. */
export async function earningsInWords(
  send: SendRequest,
  request: AdminRequest,
  account: string,
): Promise<EarningsInWords> {
  const { data } = (await send(request)) as { data: readonly FoundRecord[] }
  const all: EarningsInWords['data'][number][] = []
  for (const found of data) {
    const { resource, id } = found
    const { parts, query } = earningsAddress(found)
    const earnings = (await send(getRequest([account, ...parts], query))) as Earnings
    const termsOf = await readTerms(send, account, [earnings.state, ...earnings.lines])
    all.push({ resource, id, earnings, sentences: sentencesOf(found, earnings, termsOf) })
  }
  return { data: all }
}

function sentencesOf(
  found: FoundRecord,
  { affiliate_id, state, lines }: Earnings,
  termsOf: TermsOf,
) {
  if (lines.length === 0 && state.reason !== 'counted') {
    return [`It earned nothing. ${whyText(unpaidOf(found, affiliate_id, state), termsOf)}`]
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
