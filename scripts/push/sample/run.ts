import { usageError } from '../../exit-error.ts'
import type { SampleArguments } from '../arguments.ts'
import type { Authenticator } from '../credentials.ts'
import { createExchange, type Exchange } from '../exchange.ts'
import { readJson } from '../get.ts'
import { createPost } from '../post.ts'
import { readProfile } from '../profile.ts'
import { forex } from './forex.ts'
import { igaming } from './igaming.ts'
import {
  type Account,
  createPlaceholders,
  fillPlaceholders,
  type Placeholder,
} from './placeholders.ts'
import { propTrading } from './prop-trading.ts'
import { type Report, reportText, type SentStep } from './report.ts'
import { accountWarnings, isExpected, namesOf, policyObstacle, resultsOf } from './results.ts'
import type { Expected, SampleRun, Step } from './sample.ts'

const SAMPLE_RUNS: Record<string, SampleRun> = { 'prop-trading': propTrading, forex, igaming }

/** What the steps of a run share. */
interface Context {
  base: string
  /** The address of the vertical. */
  url: string
  authenticator: Authenticator
  exchange: Exchange
  account: Account
  /** The reason why nothing may be stored; null: some steps store. */
  noStorage: string | null
  placeholders: Record<string, Placeholder>
}

/** Runs the samples of a vertical. Returns 0 if every response is the expected one, otherwise 1. */
export async function runSample(args: SampleArguments): Promise<number> {
  const context = await createContext(args)
  const { account, noStorage } = context
  const { steps, notShown } = SAMPLE_RUNS[args.vertical.name]!
  const report: Report = {
    vertical: args.vertical.name,
    account: account.account,
    name: account.name,
    mode: account.mode,
    base_url: context.base,
    may_store: noStorage === null,
    steps: [],
    not_shown: [],
    as_expected: true,
  }
  for (const step of steps) {
    const sent = await runStep(step, context, report)
    if (sent) report.steps.push(sent)
  }
  for (const [code, because] of Object.entries(notShown)) {
    report.not_shown.push({ shows: `warning ${code}`, because })
  }
  report.as_expected = report.steps.every(({ records }) => records.every((one) => one.as_expected))
  console.log(args.json ? JSON.stringify(report) : reportText(report))
  return report.as_expected ? 0 : 1
}

async function createContext(args: SampleArguments): Promise<Context> {
  const { vertical, profile } = args
  const { base, secrets } = readProfile(vertical, args, process.env)
  const never = new AbortController().signal
  const exchange = createExchange(args.retryFor, never, (text) => console.error(text))
  const authenticator = vertical.credential.open(base, secrets, exchange)
  const url = `${base}${vertical.path}`

  const now = Date.now()
  const run = now.toString(36)
  const account = await readJson<Account>(`${url}/account`, { authenticator, exchange })
  if (!account?.policies) throw usageError(`${base} is not a Tributary service.`)
  const noStorage = reasonNotToStore(account, args.dryRun)
  const own = `sample-${run}-1`
  const customer = noStorage === null ? own : await anyCustomer(url, authenticator, exchange)
  const placeholders = await createPlaceholders({
    base,
    account,
    customer,
    run,
    profile,
    exchange,
    now,
  })
  return { base, url, authenticator, exchange, account, noStorage, placeholders }
}

/** Only accounts that declare mode `test` may store samples. */
function reasonNotToStore({ mode }: Account, dryRun: boolean): string | null {
  if (mode !== 'test') return 'it needs stored records, and a live account stores no samples'
  return dryRun ? 'it needs stored records, and --dry-run stores nothing' : null
}

/** Runs one step, or notes why it cannot run. */
async function runStep(step: Step, context: Context, report: Report): Promise<SentStep | null> {
  const { account, noStorage, placeholders, authenticator, exchange } = context
  const skip = (expected: Expected, because: string) => {
    for (const shows of namesOf(expected)) report.not_shown.push({ shows, because })
  }
  if (step.needsStored && noStorage !== null) {
    for (const expected of [{ error: step.wholeError }, ...step.samples]) skip(expected, noStorage)
    return null
  }
  const samples = step.samples.flatMap((sample) => {
    const obstacle = policyObstacle(sample, account)
    const filled: Placeholder = obstacle
      ? { absent: obstacle }
      : fillPlaceholders(sample.record, placeholders)
    if ('value' in filled) return [{ sample, text: filled.value }]
    skip(sample, filled.absent)
    return []
  })
  if (samples.length === 0 && !step.wholeError) return null

  const dryRun = !step.stores || noStorage !== null
  const url = `${context.url}/${step.resource}${dryRun ? '?dry_run=true' : ''}`
  const headers = idempotencyHeader(step, placeholders)
  const prefer = 'handling=lenient'
  const post = createPost({ url, prefer, headersOf: () => headers }, authenticator, exchange)
  const response = await post({ first: 0, texts: samples.map(({ text }) => text) })

  const { whole, each } = resultsOf(response, samples.length)
  const ignored = accountWarnings(account, 'value' in placeholders.own!)
  const records = samples.map(({ sample, text }, i) => ({
    shows: namesOf(sample),
    sent: text,
    answered: each[i]!,
    // A request that is refused as a whole has no results of records.
    as_expected: step.wholeError !== undefined || isExpected(sample, each[i]!, ignored),
  }))
  const expected = { error: step.wholeError }
  const ofWhole = {
    shows: namesOf(expected),
    sent: null,
    answered: whole,
    as_expected: isExpected(expected, whole, ignored),
  }
  const hasWhole = step.wholeError !== undefined || whole.errors.length > 0
  return {
    title: step.title,
    resource: step.resource,
    request: `POST ${new URL(url).pathname}${new URL(url).search}`,
    headers: { Prefer: prefer, ...headers },
    stored: !dryRun,
    status: response.status,
    records: hasWhole ? [...records, ofWhole] : records,
  }
}

function idempotencyHeader(
  { idempotencyKey }: Step,
  placeholders: Record<string, Placeholder>,
): Record<string, string> {
  if (idempotencyKey === undefined) return {}
  const filled = fillPlaceholders({ key: idempotencyKey }, placeholders)
  return 'value' in filled ? { 'Idempotency-Key': JSON.parse(filled.value).key } : {}
}

/** Returns the id of any customer of the account, or null. */
async function anyCustomer(base: string, authenticator: Authenticator, exchange: Exchange) {
  const url = `${base}/customers?per_page=1`
  const { data } = await readJson<{ data: Record<string, string>[] }>(url, {
    authenticator,
    exchange,
  })
  return data[0]?.customer_id ?? data[0]?.customerId ?? null
}
