import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CRON_SCHEDULES } from '../../src/admin/crons.ts'
import { KEEPING } from '../../src/commission/statements/kept.ts'
import { RecordsArchived } from '../../src/db/archive/needed.ts'
import { archivedResources, archiveMonths, keepTotals, restoreWanted } from '../archive-steps.ts'
import { deposited } from '../brand.ts'
import { keepEagerly } from '../commission/kept-firms.ts'
import { runCron } from '../crons.ts'
import { at } from '../dated.ts'
import { ada, askAdmin } from '../partner.ts'
import { answerOf, operationsAbout, type Question, questionsAbout } from './questions.ts'
import {
  eventsOf,
  NOW,
  OLD_MONTHS,
  OPEN,
  openTwin,
  type Twin,
  tick,
  tradingOf,
  transactionsOf,
} from './twin-firms.ts'

// An account of three years whose old months are archived answers as its twin that was never archived.

const USUAL = { ...KEEPING }
beforeEach(() => keepEagerly())
afterEach(() => {
  Object.assign(KEEPING, USUAL)
})

/** Archives the old months of an account. Returns their number. */
async function archiveOld({ account, vertical }: Twin) {
  tick()
  await keepTotals(account, vertical, '2028-01-01', '2030-12-31')
  return archiveMonths(account, archivedResources(vertical), OLD_MONTHS)
}

type Answers = ReadonlyMap<string, string>

let minutes = 0

/** Has the requests of a minute forgotten, of which there may be a thousand. */
const nextMinute = () => at(new Date(Date.parse(NOW) + (20 + ++minutes) * 61_000).toISOString())

/** What differs between any two answers. */
const WITHOUT: [RegExp, string][] = [
  [/"request_id":"[^"]+"/g, '"request_id":"…"'],
  [/"archived":true,/g, ''],
  [/"lag_seconds":\d+/g, '"lag_seconds":0'],
  [/"computed_at":"2030-12-05T00:[2-9][^"]+"/g, '"computed_at":"…"'],
]

const withoutTime = (text: string) =>
  WITHOUT.reduce((changed, [pattern, constant]) => changed.replaceAll(pattern, constant), text)

/** Answers all questions. Returns the answers by the names of the questions. */
async function answersOf(twin: Twin, questions: readonly Question[]): Promise<Answers> {
  nextMinute()
  const answers = new Map<string, string>()
  for (const question of questions) {
    const [status, text] = await answerOf(twin, question)
    answers.set(question.name, `${status} ${withoutTime(text)}`)
  }
  return answers
}

/** What differs between two accounts with the same records. */
const OWN: [RegExp, string][] = [
  [/"next_cursor":"[^"]+"/g, '"next_cursor":"…"'],
  [/\b(dlv|run|man|key|evt|mem|pay)_\w+/g, '$1_…'],
  [/\b(stm|lin|adj)_[\da-f]+/g, '$1_…'],
  [/\b[\da-f]{64}\b/g, 'digest'],
  [/\bc_[\da-f]{24}\b/g, 'c_…'],
  [/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/g, 'uuid'],
  [/\b[\dA-HJKMNP-TV-Z]{26}\b/g, 'ulid'],
  [/"(link|link_id)":"[^"]+"/g, '"$1":"…"'],
  [/\btr1[\w-]{44}/g, 'tr1…'],
  [/\/go\/[\w-]+/g, '/go/…'],
  [/2030-12-05T[\d:.]+Z/g, 'NOW'],
]

const withoutIds = (text: string, { account }: Twin) =>
  OWN.reduce(
    (changed, [pattern, constant]) => changed.replaceAll(pattern, constant),
    text.replaceAll(account, 'twin'),
  )

/** Answers that name other accounts, or whose order depends on random ids or on the names that affiliates see. */
const OF_ONE_ACCOUNT =
  /^(searchAccounts|list(Own)?Links|getAffiliateStatement|explainAffiliateLine|listAffiliateLineParts) /

/** Returns the questions whose answers differ, with the first characters that do. */
function differences(some: Answers, others: Answers, shown = (text: string, _i: number) => text) {
  const differ: string[] = []
  for (const [name, text] of some) {
    const [one, other] = [shown(text, 0), shown(others.get(name) ?? '', 1)]
    if (one === other) continue
    const from = Math.max(0, [...one].findIndex((character, i) => character !== other[i]) - 80)
    differ.push(`${name}\n  ${one.slice(from, from + 240)}\n  ${other.slice(from, from + 240)}`)
  }
  return differ
}

/** Lists the months that are wanted, and has nobody want them. */
async function takeWanted({ account }: Twin): Promise<string[]> {
  const { results } = await env.DB.prepare(
    `update archived_months set wanted_at = null where account = ? and wanted_at is not null
     returning resource || ' ' || date(first_day * 86400, 'unixepoch') as name`,
  )
    .bind(account)
    .all<{ name: string }>()
  return results.map(({ name }) => name)
}

/** Answers all questions while months are archived. Returns the answers, and what waits by operation. */
async function coldAnswersOf(twin: Twin, questions: readonly Question[]) {
  nextMinute()
  const answers = new Map<string, string>()
  const waits = new Map<string, { questions: number; months: number }>()
  for (const question of questions) {
    const [status, text] = await answerOf(twin, question)
    const wanted = await takeWanted(twin)
    if (status === 503 || wanted.length > 0) {
      expect([question.name, text]).toEqual([
        question.name,
        expect.stringContaining('are archived'),
      ])
      const { questions: before, months } = waits.get(question.id) ?? { questions: 0, months: 0 }
      waits.set(question.id, { questions: before + 1, months: months + wanted.length })
    } else answers.set(question.name, `${status} ${withoutTime(text)}`)
  }
  return { answers, waits }
}

/** Sends a request until no record that it needs is archived. */
async function onceBack(send: () => Promise<Response>): Promise<Response> {
  for (;;) {
    const response = await send()
    if (response.status !== 503) return response
    expect(await restoreWanted()).toBeGreaterThan(0)
  }
}

/** Computes the open month. Returns how often months had to come back. */
async function runOnceBack(twin: Twin): Promise<number> {
  for (let times = 0; ; times++) {
    try {
      await twin.run(OPEN)
      return times
    } catch (error) {
      if (!(error instanceof RecordsArchived)) throw error
      expect(await restoreWanted()).toBeGreaterThan(0)
    }
  }
}

/** Returns what a change answered. An erasure of archived records is complete some minutes later. */
const changedText = (text: string, twin: Twin) =>
  withoutIds(text, twin).replace('"complete":false', '"complete":true')

type Change = (twin: Twin) => Promise<Response>

const CUSTOMER = { ...ada, customer_id: 'c-0', email: 'c-0@person.example' }

const correction = {
  reason: 'Wrong link',
  affiliations: [
    { from: null, affiliate_id: 'own' },
    { from: '2029-02-01', affiliate_id: 'other' },
  ],
}

const ofTeam =
  (path: string, body: object, method = 'PUT'): Change =>
  (twin) =>
    askAdmin(`${twin.path}/${path}`, method, body)

const changed = (month: string, n: number, fields: object): Change => {
  const transaction = { ...transactionsOf(month)[n], ...fields }
  return (twin) => twin.post('transactions', [transaction])
}

const CHANGES: Record<Twin['vertical'], Change[]> = {
  forex: [
    changed('2028-08', 0, { amount_currency: 999.5, status: 'approved' }),
    changed('2029-03', 4, { status: 'reversed' }),
    changed('2028-11', 2, { transaction_id: 'late', status: 'approved', amount_currency: 750 }),
    changed('2029-05', 1, { transaction_date: '2029-06-17T10:00:00Z' }),
    (twin) => twin.post('trading-activity', [{ ...tradingOf('2029-02')[0], lots_traded: 99 }]),
    (twin) =>
      twin.post('customers', [
        {
          ...CUSTOMER,
          affiliate_id: 'top',
          signup_date: '2028-01-02T08:00:00Z',
          country_code: 'FR',
        },
      ]),
    ofTeam('customers/c-2/affiliations', correction),
    ofTeam('customers/c-1/refusal', { reason: 'Fraud', from: '2029-01-01' }),
    (twin) => askAdmin(`${twin.path}/customers/c-4/personal-data`, 'DELETE'),
  ],
  igaming: [
    (twin) => twin.post('activities', { ...eventsOf('2028-08')[0], NGR: '900.00' }),
    (twin) =>
      twin.post('activities', {
        ...{ ...deposited, customerid: 'c-2', eventid: 'late' },
        ...{ createtime: '2028-11-03 10:00', Value: '400' },
      }),
    (twin) =>
      twin.post('activities', {
        ...{ ...deposited, eventname: 'Chargeback', customerid: 'c-0', eventid: 'back' },
        createtime: '2028-01-30 10:00',
      }),
    ofTeam('customers/c-2/affiliations', correction),
    (twin) => askAdmin(`${twin.path}/customers/c-0/personal-data`, 'DELETE'),
  ],
}

/** Whether an erasure of an account goes on. */
const isErasing = async ({ path }: Twin): Promise<boolean> =>
  /"complete":false/.test(await (await askAdmin(`${path}/erasures`)).text())

/** Answers questions; restores what they need. */
async function warmAnswersOf(twin: Twin, questions: readonly Question[]): Promise<Answers> {
  nextMinute()
  const answers = new Map<string, string>()
  for (const question of questions) {
    let answer = await answerOf(twin, question)
    while (answer[0] === 503) {
      expect(await restoreWanted()).toBeGreaterThan(0)
      answer = await answerOf(twin, question)
    }
    const [status, text] = answer
    answers.set(question.name, `${status} ${withoutTime(text)}`)
  }
  return answers
}

/** Reports, lines and their records of old months: their months come back first. */
const MAY_WAIT: readonly string[] = [
  'getAccountReport',
  'getForexReport',
  'getIgamingReport',
  'getAffiliateReport',
  'getAffiliateOverview',
  'listSubAffiliates',
  'getUnearned',
  'getForexUnearned',
  'getIgamingUnearned',
  'getAffiliateUnearned',
  'listUnearnedRecords',
  'listAffiliateUnearnedRecords',
  'listCustomerLines',
  'listLineRecords',
  'listLineParts',
  'listAffiliateLineParts',
  'getExplanation',
  'getForexExplanation',
  'explainAffiliateLine',
]

const isOfOther = {
  forex: /Activit(y|ies)Earnings$/,
  igaming: /Transaction|TradingActivity/,
}

/** Operations about what these accounts lack, or whose answers have no record of theirs. */
const NOT_COMPARED =
  /Case|Fraud|Export|Question|Webhook|Postback|Move|Invitations|Members|Keys|Clients|BrandTokens|Link$|Plan$|PlanVersion|EventDefinitions|Run$|countDeliveryErrors|listArchives|getKeptMonths/

/** Returns the questions about an account. Each operation has one, but for those that are not compared. */
async function everyQuestion(twin: Twin): Promise<Question[]> {
  const questions = await questionsAbout(twin)
  const have = new Set(questions.map(({ id }) => id))
  const others = operationsAbout(twin.vertical).filter((id) => !have.has(id))
  const isOther = isOfOther[twin.vertical]
  expect(others.filter((id) => !NOT_COMPARED.test(id) && !isOther.test(id))).toEqual([])
  return questions
}

/** Answers all questions while months are archived; those that wait, once their months are back. */
async function archivedAnswersOf(twin: Twin, questions: readonly Question[]) {
  const { answers, waits } = await coldAnswersOf(twin, questions)
  const left = questions.filter(({ name }) => !answers.has(name))
  return { answers: new Map([...answers, ...(await warmAnswersOf(twin, left))]), waits }
}

/** Makes a change in both accounts. What it answers is the same. */
async function changeBoth(change: Change, twin: Twin, other: Twin): Promise<void> {
  const answers = [await onceBack(() => change(twin)), await change(other)]
  const texts = await Promise.all(answers.map((one) => one.text()))
  expect(answers.map(({ ok }) => ok)).toEqual([true, true])
  tick()
  expect(changedText(texts[0]!, twin)).toBe(changedText(texts[1]!, other))
}

test.for(['forex', 'igaming'] as const)(
  'an account of three years answers as before its old months were archived, and corrections of them give the adjustments of its twin: %s',
  async (vertical) => {
    const [twin, other] = [await openTwin(vertical, 'twin-a'), await openTwin(vertical, 'twin-b')]
    const months = OLD_MONTHS.length * archivedResources(vertical).length
    await keepTotals(twin.account, vertical, '2028-01-01', '2030-12-31')
    const questions = await everyQuestion(twin)
    const before = await answersOf(twin, questions)
    expect([...before].filter(([, text]) => !text.startsWith('200 '))).toEqual([])
    expect(await archiveOld(twin)).toBe(months)
    const archived = await archivedAnswersOf(twin, questions)
    expect(differences(archived.answers, before)).toEqual([])
    expect([...archived.waits].filter(([id]) => !MAY_WAIT.includes(id))).toEqual([])

    await archiveOld(twin)
    for (const change of CHANGES[vertical]) await changeBoth(change, twin, other)
    while (await isErasing(twin)) await runCron(CRON_SCHEDULES.propagate)
    await archiveOld(twin)
    for (const one of [twin, other]) await runOnceBack(one)
    expect(await archiveOld(twin)).toBe(months)
    await keepTotals(other.account, vertical, '2028-01-01', '2030-12-31')
    const [changed, ofOther] = [await questionsAbout(twin), await questionsAbout(other)]
    expect(changed.map(({ name }) => name)).toEqual(ofOther.map(({ name }) => name))
    const unarchived = await answersOf(other, ofOther)
    const adjusted = [...unarchived].filter(([, text]) => /"adjustments_total":[1-9]/.test(text))
    expect(adjusted.length).toBeGreaterThan(3)
    const accounts = [twin, other] as const
    const shown = (text: string, i: number) => withoutIds(text, accounts[i]!)
    const { answers } = await archivedAnswersOf(twin, changed)
    const differ = differences(answers, unarchived, shown)
    expect(differ.filter((one) => !OF_ONE_ACCOUNT.test(one))).toEqual([])
  },
)
