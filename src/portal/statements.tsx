import type { Context } from 'hono'
import { respond } from '../pages/base/respond.ts'
import { Data } from '../pages/parts/data.tsx'
import { Table } from '../pages/parts/table.tsx'
import { listAffiliateStatements } from '../payouts/own/statements.ts'
import type { AppEnv } from '../platform/auth/authorize.ts'
import type { AnswerOf } from '../platform/http/operation.ts'
import { fill } from '../platform/languages.ts'
import { isSome } from '../platform/money/decimal.ts'
import { portalPath } from './layout.tsx'
import { MemberPage, NextPage } from './member-page.tsx'
import { placeText } from './money.tsx'
import { readPlans } from './plans.ts'
import { type MemberVisit, useMemberVisit } from './visit.ts'

/** A statement as an affiliate reads it. */
export type Statement = AnswerOf<typeof listAffiliateStatements>['data'][number]

/** The path of the statements below that of the account's portal. */
export const STATEMENTS = '/statements'

/** Says whether a statement is approved, and where its money is. */
export function outcomeText(visit: MemberVisit, { status, money, ...one }: Statement): string {
  const { speech, words } = visit
  if (money) {
    const text = placeText(money, visit)
    // A part of it was paid before.
    return money.amount === one.payable
      ? text
      : `${speech.money(money.amount, one.currency)} ${text}`
  }
  if (status !== 'draft') {
    // Another statement pays it.
    const carried = `${speech.text('balance.closing')}: ${speech.money(one.closing, one.currency)}`
    return isSome(one.closing) ? `${words.approved} · ${carried}` : words.approved
  }
  // What is carried on has no day.
  if (one.payable.startsWith('-') || !/[1-9]/.test(one.payable)) return words.draft
  return `${words.draft} · ${fill(words.payable_if_approved, { day: speech.day(one.payable_on) })}`
}

/** Renders the period of a statement as the link to it. */
export const StatementLink = (
  { id, period }: Pick<Statement, 'id' | 'period'>,
  { account, speech } = useMemberVisit(),
) => (
  <a href={portalPath(account.id, `${STATEMENTS}/${encodeURIComponent(id)}`)}>
    {speech.period(period)}
  </a>
)

/** Renders what a statement earned, and below it what was entered by hand. */
const Earned = (
  { earned, manual_sum, currency }: Pick<Statement, 'earned' | 'manual_sum' | 'currency'>,
  { speech } = useMemberVisit(),
) => (
  <>
    {speech.money(earned, currency)}
    {isSome(manual_sum) && (
      <small>
        <br />
        {speech.text('balance.manual')}: {speech.money(manual_sum, currency)}
      </small>
    )}
  </>
)

/** Responds with the statements of the affiliate, the latest first. */
export async function showStatements(c: Context<AppEnv>, visit: MemberVisit): Promise<Response> {
  const { words, speech } = visit
  const { data, meta } = await visit.call(listAffiliateStatements, {
    order: 'latest',
    cursor: c.req.query('cursor'),
  })
  const plans = new Set(data.map(({ plan }) => plan))
  const { nameOf } = plans.size > 1 ? await readPlans(visit, [...plans]) : { nameOf: String }
  return respond(
    c,
    <MemberPage visit={visit} here="statements" title={words.statements}>
      <Table
        caption={words.statements}
        rows={data}
        columns={{
          [words.period]: (one) => <StatementLink {...one} />,
          [speech.text('plan')]: plans.size > 1 && (({ plan }) => <Data text={nameOf(plan)} />),
          [words.state]: (one) => <Data text={outcomeText(visit, one)} />,
          [speech.text('balance.earned')]: { number: (one) => <Earned {...one} /> },
        }}
        empty={<p class="note">{words.no_statements}</p>}
      />
      <NextPage at={STATEMENTS} cursor={meta.next_cursor} />
    </MemberPage>,
  )
}
