import type { SampleArguments } from '../arguments.ts'
import type { Keyring } from '../credentials.ts'
import { connect, type Exchange } from '../exchange.ts'
import { misuse } from '../halt.ts'
import { poster } from '../post.ts'
import { readProfile } from '../profile.ts'
import { refusal } from '../refusal.ts'
import { answeredOf, hindrance, isExpected, namesOf, toldAnyway } from './answered.ts'
import { forex } from './forex.ts'
import { igaming } from './igaming.ts'
import type { Lesson, Shows, Step } from './lesson.ts'
import { type Account, fill, type Place, placesOf } from './places.ts'
import { propTrading } from './prop-trading.ts'
import { lessonText, type Report, type ShownStep } from './tell.ts'

const LESSONS: Record<string, Lesson> = { 'prop-trading': propTrading, forex, igaming }

/** Where a lesson is shown, and what it knows there. */
interface Room {
  at: string
  keyring: Keyring
  exchange: Exchange
  account: Account
  /** Why nothing may be stored; null: some of it is. */
  storesNothing: string | null
  places: Record<string, Place>
}

/** Shows the first lesson of a vertical; 0: each answer was the one that it expects. */
export async function showLesson(args: SampleArguments): Promise<number> {
  const { vertical, profile } = args
  const { base, secrets } = readProfile(vertical, args, process.env)
  const never = new AbortController().signal
  const exchange = connect(args.retryFor, never, (text) => console.error(text))
  const keyring = vertical.credential.open(base, secrets, exchange)
  const at = `${base}${vertical.path}`

  const now = Date.now()
  const run = now.toString(36)
  const account = await read<Account>(`${at}/account`, keyring, exchange)
  if (!account?.policies) throw misuse(`${base} does not answer as this service does.`)
  const storesNothing = reasonNotToStore(account, args.dryRun)
  const isFresh = storesNothing === null
  const customer = isFresh ? `lesson-${run}-1` : await anyCustomer(at, keyring, exchange)
  // Where what is unknown is held, a customer need not be known.
  const isHeld = account.policies.unknown_customer === 'hold'
  const named = customer ?? (isHeld ? `lesson-${run}-1` : null)
  const places = await placesOf({ base, account, customer: named, run, profile, exchange, now })

  const { steps, elsewhere } = LESSONS[vertical.name]!
  const room = { at, keyring, exchange, account, storesNothing, places }
  const report: Report = {
    vertical: vertical.name,
    account: account.account,
    name: account.name,
    mode: account.mode,
    base_url: base,
    may_store: isFresh,
    steps: [],
    not_shown: [],
    as_expected: true,
  }
  for (const step of steps) {
    const shown = await take(step, room, report)
    if (shown) report.steps.push(shown)
  }
  for (const [code, because] of Object.entries(elsewhere)) {
    report.not_shown.push({ shows: `warning ${code}`, because })
  }
  report.as_expected = report.steps.every(({ records }) => records.every((one) => one.as_expected))
  console.log(args.json ? JSON.stringify(report) : lessonText(report))
  return report.as_expected ? 0 : 1
}

/** What is true of a live account is true of any that does not say that it is for tests. */
function reasonNotToStore({ mode }: Account, dryRun: boolean): string | null {
  if (mode !== 'test') return 'it takes something stored, and in a live account nothing is'
  return dryRun ? 'it takes something stored, and by --dry-run nothing is' : null
}

/** Takes one step, or notes why it cannot be taken. */
async function take(step: Step, room: Room, { not_shown }: Report): Promise<ShownStep | null> {
  const { account, storesNothing, places, keyring, exchange } = room
  const skip = (shown: Shows, because: string) => {
    for (const shows of namesOf(shown)) not_shown.push({ shows, because })
  }
  if (step.needsStored && storesNothing !== null) {
    for (const shown of [{ error: step.whole }, ...step.samples]) skip(shown, storesNothing)
    return null
  }
  const samples = step.samples.flatMap((sample) => {
    const hindered = hindrance(sample, account)
    const filled: Place = hindered ? { absent: hindered } : fill(sample.record, places)
    if ('value' in filled) return [{ sample, text: filled.value }]
    skip(sample, filled.absent)
    return []
  })
  if (samples.length === 0 && !step.whole) return null

  const dryRun = !step.stores || storesNothing !== null
  const url = `${room.at}/${step.resource}${dryRun ? '?dry_run=true' : ''}`
  const key = step.idempotencyKey && fill({ key: step.idempotencyKey }, places)
  const headers: Record<string, string> =
    key && 'value' in key ? { 'Idempotency-Key': JSON.parse(key.value).key } : {}
  const prefer = 'handling=lenient'
  const post = poster({ url, prefer, headersOf: () => headers }, keyring, exchange)
  const answer = await post({ first: 0, texts: samples.map(({ text }) => text) })

  const { whole, each } = answeredOf(answer, samples.length)
  const anyway = toldAnyway(account, 'value' in places.own!)
  const records = samples.map(({ sample, text }, i) => ({
    shows: namesOf(sample),
    sent: text,
    answered: each[i]!,
    // What is refused as a whole says nothing of its records.
    as_expected: step.whole !== undefined || isExpected(sample, each[i]!, anyway),
  }))
  const ofWhole = {
    shows: namesOf({ error: step.whole }),
    sent: null,
    answered: whole,
    as_expected: isExpected({ error: step.whole }, whole, anyway),
  }
  const isAboutAll = step.whole !== undefined || whole.errors.length > 0
  return {
    title: step.title,
    resource: step.resource,
    request: `POST ${new URL(url).pathname}${new URL(url).search}`,
    headers: { Prefer: prefer, ...headers },
    stored: !dryRun,
    status: answer.status,
    records: isAboutAll ? [...records, ofWhole] : records,
  }
}

/** Any customer that the account has. */
async function anyCustomer(at: string, keyring: Keyring, exchange: Exchange) {
  const url = `${at}/customers?per_page=1`
  const { data } = await read<{ data: Record<string, string>[] }>(url, keyring, exchange)
  return data[0]?.customer_id ?? data[0]?.customerId ?? null
}

async function read<T>(url: string, keyring: Keyring, exchange: Exchange): Promise<T> {
  const answer = await exchange(url, { headers: await keyring.headers() })
  if (answer.status !== 200) throw refusal(keyring.unwelcome, answer)
  return answer.body as T
}
