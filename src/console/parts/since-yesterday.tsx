import type { Child } from 'hono/jsx'
import { getChanges } from '../../admin/changes.ts'
import { dayNumber, dayText } from '../../commission/engine/calendar.ts'
import { counted } from '../../commission/engine/reasons.ts'
import type { AnswerOf } from '../../http/operation.ts'
import { accountPath, dayBefore, type Visit, withQuery } from '../page.ts'
import { Amount, count, dayWords } from './data.tsx'
import { deliveriesPath } from './deliveries.tsx'
import { AccountLink } from './fields.tsx'
import { AffiliateName } from './names.tsx'
import type { Money } from './owed.ts'

// What has changed since yesterday, in sentences, each with a link to what it is about.

type Changes = AnswerOf<typeof getChanges>
type Compared = Changes['signups']

/** Reads what has changed since yesterday. */
export const readSinceYesterday = ({ api, account }: Visit): Promise<Changes> =>
  api.call(getChanges, { account })

/** The maximum number of affiliates that a sentence names. */
const NAMED = 3

/** Renders the first affiliates and how many more there are. */
const Affiliates = ({ visit, ids }: { visit: Visit; ids: readonly string[] }) => (
  <>
    {ids.slice(0, NAMED).map((id, i) => (
      <>
        {i > 0 && ', '}
        <AffiliateName visit={visit} id={id} />
      </>
    ))}
    {ids.length > NAMED && ` and ${count(ids.length - NAMED)} more`}
  </>
)

const Amounts = ({ amounts }: { amounts: readonly Money[] }) => (
  <>
    {amounts.map(({ amount, currency }, i) => (
      <>
        {i > 0 && ', '}
        <Amount value={amount} currency={currency} />
      </>
    ))}
  </>
)

const total = ({ yesterday, today }: Compared): number => yesterday + today

const hasSome = (one: Compared): boolean => total(one) + one.day_before > 0

/** Whether there are only some of today, which are then not compared. */
const isNew = (one: Compared): boolean => one.yesterday + one.day_before === 0

/** Returns the number that a sentence begins with, such as `3 customers` or `No customer`. */
function leading(one: Compared, noun: string): string {
  const number = isNew(one) ? one.today : one.yesterday
  return number === 0 ? `No ${noun}` : counted(number, noun)
}

/** Says when they came: how many there were on the day before, and how many there are today. */
function comparedWords(one: Compared): string {
  const { day_before, today } = one
  if (isNew(one)) return 'today.'
  const before = `yesterday, ${day_before === 0 ? 'none' : count(day_before)} the day before`
  return today > 0 ? `${before}; ${count(today)} so far today.` : `${before}.`
}

/** Returns the day (UTC) on which an instant lies, by which deliveries and the audit log are filtered. */
const utcDay = (at: string): string => at.slice(0, 'YYYY-MM-DD'.length)

interface Props {
  readonly visit: Visit
  readonly changes: Changes
}

/** Returns the day that the number at the beginning of a sentence counts, as a query. */
function dayOf(one: Compared, { yesterday }: Changes) {
  const day = isNew(one) ? dayText(dayNumber(yesterday) + 1) : yesterday
  return { from: day, to: day }
}

function Signups({ visit, changes }: Props): Child {
  const { signups, first_deposits: deposits } = changes
  const hasDeposits = deposits !== null && hasSome(deposits)
  if (!hasSome(signups) && !hasDeposits) return null
  return (
    <li>
      <AccountLink visit={visit} at={['customers']} query={dayOf(signups, changes)}>
        {leading(signups, 'customer')}
      </AccountLink>{' '}
      signed up {comparedWords(signups)}
      {hasDeposits && (
        <>
          {' '}
          <AccountLink
            visit={visit}
            at={['reports']}
            query={{
              ...dayOf(deposits, changes),
              group_by: 'affiliate_id',
              metrics: 'first_deposit_count',
            }}
          >
            {leading(deposits, 'customer')}
          </AccountLink>{' '}
          deposited for the first time {comparedWords(deposits)}
        </>
      )}
    </li>
  )
}

function Records({ visit, changes }: Props): Child {
  const { records, refused_records, since } = changes
  if (!hasSome(records)) return null
  const days = { from: utcDay(since), to: dayBefore(visit.today, 0) }
  const refused = total(refused_records)
  return (
    <li>
      {leading(records, 'record')} arrived {comparedWords(records)}
      {refused > 0 && ` ${count(refused)} of them since yesterday ${were(refused)} refused.`}{' '}
      <a
        href={deliveriesPath(visit.account, { ...days, ...(refused > 0 && { status: 'refused' }) })}
      >
        {refused > 0 ? 'Why they were refused' : 'Deliveries'}
      </a>
    </li>
  )
}

const were = (number: number): string => (number === 1 ? 'was' : 'were')

/** Says what was approved, paid and came back. */
function Paid({ visit, changes }: Props): Child {
  const { approved_statements: approved, payments, returned_payments: returned, since } = changes
  if (approved.count + payments.count + returned === 0) return null
  const statements = { approved_since: since }
  return (
    <li>
      {approved.count > 0 && (
        <>
          <a href={withQuery(accountPath(visit.account, 'statements'), statements)}>
            {counted(approved.count, 'statement')}
          </a>{' '}
          {were(approved.count)} approved: <Amounts amounts={approved.amounts} />.{' '}
        </>
      )}
      {payments.count > 0 && (
        <>
          <AccountLink
            visit={visit}
            at={['payouts']}
            query={{ status: 'paid', recorded_since: since }}
          >
            {counted(payments.count, 'payment')}
          </AccountLink>{' '}
          {were(payments.count)} recorded: <Amounts amounts={payments.amounts} />.{' '}
        </>
      )}
      {returned > 0 && (
        <>
          <AccountLink
            visit={visit}
            at={['payouts']}
            query={{ status: 'paid', returned_since: since }}
          >
            {counted(returned, 'payment')}
          </AccountLink>{' '}
          came back.
        </>
      )}
    </li>
  )
}

/** Says which cases were opened, and which holds ended. */
function Cases({ visit, changes: { cases_opened: opened, holds_ended: ended, since } }: Props) {
  if (opened.count + ended === 0) return null
  const cases = accountPath(visit.account, 'cases')
  return (
    <li>
      {opened.count > 0 && (
        <>
          <a href={withQuery(cases, { opened_since: since })}>{counted(opened.count, 'case')}</a>{' '}
          {were(opened.count)} opened, of <Affiliates visit={visit} ids={opened.affiliates} />
          {opened.holding > 0 &&
            (opened.holding === opened.count
              ? ', and payouts are held'
              : `; ${count(opened.holding)} of them ${opened.holding === 1 ? 'holds' : 'hold'} payouts`)}
          .{' '}
        </>
      )}
      {ended > 0 && (
        <>
          {counted(ended, 'hold')} of payouts ended without a decision.{' '}
          <a href={`${cases}#ended`}>{ended === 1 ? 'Look at it' : 'Look at them'}</a>
        </>
      )}
    </li>
  )
}

const LINES: readonly ((props: Props) => Child)[] = [Signups, Records, Paid, Cases]

/** Renders what has changed since the start of yesterday; nothing if nothing has. */
export function SinceYesterdayList(props: Props): Child {
  const { visit, changes } = props
  const lines = LINES.map((line) => line(props)).filter((line) => line !== null)
  if (lines.length === 0) return null
  return (
    <section id="since-yesterday">
      <h2>Since yesterday</h2>
      <ul class="since">{lines}</ul>
      <p class="note">
        Since the start of {dayWords(changes.yesterday)} in the time zone of the records.{' '}
        <AccountLink visit={visit} at={['audit-log']} query={{ from: utcDay(changes.since) }}>
          All changes
        </AccountLink>
      </p>
    </section>
  )
}
